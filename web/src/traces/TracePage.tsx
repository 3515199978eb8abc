import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";

import { usePathParameter } from "../ui/address";
import { formatClock, formatCount, formatPlace } from "../ui/format";
import { EmptyState, Panel, ProblemMessage, Status } from "../ui/parts";
import { VirtualList } from "../ui/VirtualList";
import { FindPanel } from "./FindPanel";
import { useStatementOpening } from "./place-opening";
import { Remarks } from "./Remarks";
import { listFiles, shortName } from "./recorded-places";
import { TimedCalls } from "./TimedCalls";
import { useRecording } from "./trace-opening";
import { type RecordedCall, type Trace, traceQuery, useTraceDeletion } from "./trace-queries";
import { formatBytes, nameKind, nameTarget } from "./trace-texts";
import "./traces.css";
import { WhyPanel } from "./WhyPanel";

/** One recording: the calls that it has, or who called whom, how often and for how long. */
export function TracePage() {
  const { data, error } = useQuery(traceQuery(usePathParameter("id")));
  return (
    <div className={`trace-pages trace-page${data?.recorded === "calls" ? " alone" : ""}`}>
      <ProblemMessage problem={error} />
      {data ? <TraceView trace={data} /> : error ? null : <p className="empty">Reading the recording…</p>}
    </div>
  );
}

const NO_DRAFT = {};

function TraceView({ trace }: { trace: Trace }) {
  const open = useStatementOpening(trace.trace_id);
  const calls = trace.calls ?? [];
  const tree = trace.tree ?? [];
  return (
    <>
      <TraceHeader trace={trace} />
      <div className="trace-main">
        <Remarks remarks={trace.remarks ?? []} />
        {calls.length ? <CallsPanel trace={trace} calls={calls} /> : null}
        {tree.length ? <TimedCalls trace={trace} tree={tree} /> : null}
        {calls.length || tree.length ? null : (
          <EmptyState>
            No call was recorded: the function was not called, or the program did not get there.
          </EmptyState>
        )}
      </div>
      {trace.recorded === "calls" ? null : (
        <div className="trace-side">
          <WhyPanel trace={trace} draft={NO_DRAFT} files={listFiles(calls)} onOpen={open} />
          <FindPanel trace={trace} />
          {trace.recorded === "frame" ? <AnotherCall trace={trace} /> : null}
        </div>
      )}
    </>
  );
}

function TraceHeader({ trace }: { trace: Trace }) {
  return (
    <header className="trace-head">
      <h1 className="cut" title={trace.target}>
        {nameTarget(trace)}
      </h1>
      <span>{nameKind(trace)}</span>
      <span className="soft">
        <time dateTime={trace.time}>
          {trace.time.slice(0, 10)} {formatClock(trace.time).slice(0, 8)}
        </time>
        {trace.python ? ` · Python ${trace.python}` : ""} · {formatBytes(trace.bytes ?? 0)}
      </span>
      <div className="actions">
        {trace.session_id ? (
          <Link className="button" to="/programs/$id" params={{ id: trace.session_id } as never}>
            The program
          </Link>
        ) : null}
        <DeleteButton id={trace.trace_id} />
      </div>
    </header>
  );
}

/** Runs the program once more, and records another call of the function. */
function AnotherCall({ trace }: { trace: Trace }) {
  const [call, setCall] = useState("");
  const making = useRecording();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    making.mutate({ trace: trace.trace_id, call: Number(call), again: true });
  };
  return (
    <Panel title="Record another call">
      <form className="another-call" onSubmit={submit}>
        <p className="soft">This runs the program again, with everything that it does.</p>
        <label>
          Call number
          <input
            type="number"
            min={1}
            required
            value={call}
            onChange={(event) => setCall(event.target.value)}
          />
        </label>
        <button type="submit" disabled={making.isPending}>
          Run again
        </button>
        <ProblemMessage problem={making.error} />
        <Remarks remarks={making.data?.steps ? [] : (making.data?.remarks ?? [])} />
      </form>
    </Panel>
  );
}

/** Deletes a recording, after a second click. */
function DeleteButton({ id }: { id: string }) {
  const navigate = useNavigate();
  const [isSure, setSure] = useState(false);
  const deletion = useTraceDeletion(() => void navigate({ to: "/traces" as string }));
  return (
    <>
      <button
        type="button"
        className="danger"
        disabled={deletion.isPending}
        onBlur={() => setSure(false)}
        onClick={() => (isSure ? deletion.mutate(id) : setSure(true))}
      >
        {isSure ? "Delete it for good" : "Delete"}
      </button>
      <ProblemMessage problem={deletion.error} />
    </>
  );
}

function CallsPanel({ trace, calls }: { trace: Trace; calls: RecordedCall[] }) {
  const total = trace.total_calls ?? calls.length;
  return (
    <Panel title="Calls" className="fill recorded-calls" aside={formatCount(total)}>
      {total > calls.length ? (
        <p className="hint-line soft">The first {formatCount(calls.length)} are shown.</p>
      ) : null}
      <VirtualList
        count={calls.length}
        label="Recorded calls"
        rowHeight={32}
        keyOf={(index) => calls[index]?.key ?? index}
        renderRow={(index) => <CallRow trace={trace.trace_id} call={calls[index] as RecordedCall} />}
      />
    </Panel>
  );
}

function CallRow({ trace, call }: { trace: string; call: RecordedCall }) {
  return (
    <>
      <Link
        className="mono cut grow"
        to={"/traces/$id/calls/$key" as string}
        params={{ id: trace, key: call.key } as never}
      >
        {shortName(call.function, call.file)} <span className="soft">call {formatCount(call.index)}</span>
      </Link>
      <span className="soft mono wide-only">{formatPlace(call)}</span>
      <Status of={call.outcome} />
    </>
  );
}
