import { useEffect, useRef, useState } from "react";

import { ServerProblem } from "../api/client";
import { useAddressValue } from "../ui/address";
import { useCommand } from "../ui/commands";
import { formatCount } from "../ui/format";
import { ProblemMessage } from "../ui/parts";
import type { FeedState } from "./call-feed";

/** One expression that chooses calls. It says how far it looked, and what it could not judge. */
export function CallFilter({ state, isTimeline }: { state: FeedState; isTimeline: boolean }) {
  const [filter, setFilter] = useAddressValue("filter");
  const [text, setText] = useState(filter);
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => setText(filter), [filter]);
  useCommand("Filter the calls", "/", () => box.current?.focus());
  const problem = isFilterProblem(state.problem) ? state.problem : null;
  return (
    <search className="call-filter">
      <form
        className="row"
        onSubmit={(event) => {
          event.preventDefault();
          setFilter(text.trim(), { push: true });
        }}
      >
        <input
          ref={box}
          aria-label="Filter"
          className="mono"
          placeholder="status == 'exception' and args[0] > 10"
          spellCheck={false}
          autoComplete="off"
          value={text}
          aria-invalid={problem !== null}
          aria-describedby={problem ? "filter-problem" : "filter-reach"}
          onChange={(event) => setText(event.target.value)}
        />
        <button type="submit">Filter</button>
        {filter ? (
          <button type="button" className="quiet" onClick={() => setFilter("", { push: true })}>
            Clear
          </button>
        ) : null}
      </form>
      {problem ? <FilterProblem problem={problem} /> : null}
      {isTimeline ? null : <FilterReach state={state} isFiltered={filter !== ""} />}
      {state.problem && !problem ? <ProblemMessage problem={state.problem} /> : null}
    </search>
  );
}

const isFilterProblem = (problem: unknown): problem is ServerProblem =>
  problem instanceof ServerProblem && problem.code === "FILTER_INVALID";

/** What is wrong with the filter, with a mark under the place. */
function FilterProblem({ problem }: { problem: ServerProblem }) {
  const { filter, offset, error } = problem.details as { filter?: string; offset?: number; error?: string };
  const place = offset ? ` at position ${offset}` : "";
  return (
    <div id="filter-problem" className="problem" role="alert">
      {filter && offset ? (
        <pre>
          {filter}
          {"\n"}
          <span aria-hidden="true">{`${" ".repeat(Math.max(0, offset - 1))}^`}</span>
        </pre>
      ) : null}
      <p>{error ? `${error}${place}` : problem.message}</p>
      {problem.hint ? <p>{problem.hint}</p> : null}
    </div>
  );
}

/** How many calls were read, and for which the filter had no answer. */
function FilterReach({ state, isFiltered }: { state: FeedState; isFiltered: boolean }) {
  if (state.problem) return null;
  const looked = `looked at ${formatCount(state.lookedAt)} call${state.lookedAt === 1 ? "" : "s"}`;
  const found = `found ${formatCount(state.calls.length + state.waiting.length)}`;
  const shown = isFiltered ? `${looked}, ${found}` : looked;
  return (
    <div id="filter-reach" className="filter-reach soft">
      <span role="status">
        {state.isLooking ? `looking… ${looked}` : `${shown}${state.hasOlder ? ", older ones below" : ""}`}
      </span>
      {state.reasons.map(({ error, count }) => (
        <span key={error} className="unjudged">
          could not judge {formatCount(count)}: {error}
        </span>
      ))}
    </div>
  );
}
