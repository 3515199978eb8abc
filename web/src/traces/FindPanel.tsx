import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";

import { useAddressValue } from "../ui/address";
import { Panel, ProblemMessage } from "../ui/parts";
import { findQuery, type RecordedCall, type Trace } from "./trace-queries";
import { readFinding } from "./trace-texts";

/** Finds where a recording has a value. */
export function FindPanel({ trace }: { trace: Trace }) {
  const [find, setFind] = useAddressValue("find");
  const [text, setText] = useState(find);
  const { data, error, isFetching } = useQuery(findQuery(trace.trace_id, find));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setFind(text, { push: true });
  };
  return (
    <Panel title="Find a value">
      <form className="another-call" onSubmit={submit}>
        <label>
          Text of the value
          <input
            className="mono"
            placeholder="'tea', or 908"
            spellCheck={false}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        </label>
        <button type="submit">Find</button>
        <ProblemMessage problem={find ? error : null} />
        <p className="soft" role="status">
          {isFetching ? "Looking…" : ""}
        </p>
      </form>
      {find && data?.found ? <FoundList trace={trace} found={data.found} /> : null}
    </Panel>
  );
}

function FoundList({ trace, found }: { trace: Trace; found: string[] }) {
  return (
    <ol className="plain-list children" tabIndex={0} aria-label="Where it is">
      {found.map((text, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a finding is its place in the order
        <li key={index}>
          <Finding trace={trace.trace_id} text={text} calls={trace.calls ?? []} />
        </li>
      ))}
    </ol>
  );
}

/** A finding is a link, if it says in which call and at which line. */
function Finding({ trace, text, calls }: { trace: string; text: string; calls: RecordedCall[] }) {
  const found = readFinding(text, calls);
  if (!found) return <span className="mono">{text}</span>;
  return (
    <>
      <Link
        className="mono"
        to="/traces/$id/calls/$key"
        params={{ id: trace, key: found.key } as never}
        search={(found.line ? { line: found.line } : {}) as never}
      >
        {found.words}
      </Link>{" "}
      <span className="soft">{found.place}</span>
    </>
  );
}
