import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Fragment, type UIEvent, useLayoutEffect, useRef, useState } from "react";

import { api, bodyOf } from "../api/client";
import { formatCount } from "../ui/format";
import { EmptyState, ProblemMessage } from "../ui/parts";
import { clearOutput, emptyOutput, type OutputEntry } from "./output-so-far";
import { outputQuery } from "./queries";

const PAGE = 1_000;
const NEAR_END = 24;

/** What the program writes. It follows the end until one scrolls up, and then counts what is new. */
export function OutputPanel({ session }: { session: string }) {
  const client = useQueryClient();
  const { data, error } = useQuery(outputQuery(session, client));
  const { entries, dropped, left, cursor } = data ?? emptyOutput;
  const [shown, setShown] = useState(PAGE);
  const [stoppedAt, setStoppedAt] = useState<number | null>(null);
  const box = useRef<HTMLDivElement>(null);
  const count = entries.length + left;
  const newCount = stoppedAt === null ? 0 : count - stoppedAt;
  const clearing = useMutation({
    mutationFn: () =>
      bodyOf(api.DELETE("/sessions/{session_id}/output", { params: { path: { session_id: session } } })),
    onSuccess: (answer) => client.setQueryData(["output", session], clearOutput(answer.cursor)),
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: it follows whatever is new
  useLayoutEffect(() => {
    if (stoppedAt === null && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [cursor, stoppedAt]);
  const watchScroll = ({
    currentTarget: { scrollHeight, scrollTop, clientHeight },
  }: UIEvent<HTMLElement>) => {
    const isAtEnd = scrollHeight - scrollTop - clientHeight < NEAR_END;
    if (isAtEnd && stoppedAt !== null) setStoppedAt(null);
    else if (!isAtEnd && stoppedAt === null) setStoppedAt(count);
  };
  const hidden = Math.max(0, entries.length - shown);
  return (
    <div className="output-panel">
      <ProblemMessage problem={error ?? clearing.error} />
      <div className="fill" ref={box} onScroll={watchScroll} role="log" aria-label="Output" tabIndex={0}>
        {dropped + left ? <p className="note">{describeGone(dropped + left)}</p> : null}
        {hidden ? (
          <button type="button" className="quiet" onClick={() => setShown(shown + PAGE)}>
            Show earlier output ({formatCount(hidden)} pieces)
          </button>
        ) : null}
        {entries.length ? (
          <OutputText entries={entries.slice(hidden)} />
        ) : (
          <EmptyState>There is no output.</EmptyState>
        )}
      </div>
      <div className="output-foot">
        {newCount > 0 ? (
          <button type="button" className="quiet" onClick={() => setStoppedAt(null)}>
            {formatCount(newCount)} new: go to the end
          </button>
        ) : null}
        {entries.length ? (
          <button type="button" className="quiet" onClick={() => clearing.mutate()}>
            Clear
          </button>
        ) : null}
      </div>
    </div>
  );
}

const describeGone = (count: number) =>
  `${formatCount(count)} earlier pieces of output were dropped to make room for newer ones.`;

function OutputText({ entries }: { entries: OutputEntry[] }) {
  const firstRun = entries[0]?.run;
  return (
    <pre className="output">
      {entries.map((entry, index) => (
        <Fragment key={entry.seq}>
          {entry.run !== (entries[index - 1]?.run ?? firstRun) ? (
            <span className="run">
              run {entry.run}
              {"\n"}
            </span>
          ) : null}
          <span className={entry.type}>{entry.text}</span>
        </Fragment>
      ))}
    </pre>
  );
}
