import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { formatClock } from "../ui/format";
import { EmptyState, Panel, ProblemMessage } from "../ui/parts";
import { NewTraceForm } from "./NewTraceForm";
import { type TraceSummary, tracesQuery } from "./trace-queries";
import { formatBytes, nameKind, nameTarget } from "./trace-texts";
import "./traces.css";

/** All recordings, and a form that makes one. */
export function TracesPage() {
  const { data, error } = useQuery(tracesQuery);
  const traces = data?.traces ?? [];
  return (
    <div className="trace-pages traces-page">
      <h1 className="unseen">Traces</h1>
      <Panel title="Recordings" className="recordings" aside={data ? `${data.total}` : null}>
        <ProblemMessage problem={error} />
        {traces.length ? (
          <div className="fill" tabIndex={0} role="group" aria-label="List of recordings">
            <TraceTable traces={traces} />
          </div>
        ) : data ? (
          <EmptyState command="holdfast trace orders.py --function total">
            Nothing is recorded yet. A trace shows one call of a function from its arguments to its end: each
            line with what it changed, and every round of its loops. On the command line:
          </EmptyState>
        ) : null}
        {data && data.total > traces.length ? (
          <p className="soft hint-line">The newest {traces.length} are shown.</p>
        ) : null}
      </Panel>
      <NewTraceForm />
    </div>
  );
}

function TraceTable({ traces }: { traces: TraceSummary[] }) {
  return (
    <table className="table">
      <thead>
        <tr>
          <th scope="col">What ran</th>
          <th scope="col">Recorded</th>
          <th scope="col">When</th>
          <th scope="col" className="wide-only">
            Python
          </th>
          <th scope="col" className="wide-only">
            Size
          </th>
        </tr>
      </thead>
      <tbody>
        {traces.map((trace) => (
          <tr key={trace.trace_id}>
            <td className="cut">
              <Link to={"/traces/$id" as string} params={{ id: trace.trace_id } as never}>
                {nameTarget(trace)}
              </Link>
              <div className="soft cut mono trace-id">{trace.trace_id}</div>
            </td>
            <td className="cut">{nameKind(trace)}</td>
            <td className="narrow">
              <time dateTime={trace.time}>
                <span className="wide-only">{trace.time.slice(0, 10)} </span>
                {formatClock(trace.time).slice(0, 8)}
              </time>
            </td>
            <td className="narrow wide-only">{trace.python}</td>
            <td className="narrow wide-only">{formatBytes(trace.bytes ?? 0)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
