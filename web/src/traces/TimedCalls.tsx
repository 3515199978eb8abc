import { useState } from "react";

import type { Schemas } from "../api/client";
import { formatCount, formatDuration, formatPlace } from "../ui/format";
import { Panel, ProblemMessage } from "../ui/parts";
import { shortName } from "./recorded-places";
import { listTimedRows } from "./timed-rows";
import { useRecording } from "./trace-opening";
import type { Trace } from "./trace-queries";

/** Who called whom, how often and for how long. */
export function TimedCalls({ trace, tree }: { trace: Trace; tree: Schemas["CountedCalls"][] }) {
  const [folded, setFolded] = useState<ReadonlySet<number>>(new Set());
  const making = useRecording();
  const rows = listTimedRows(tree, folded);
  const toggle = (at: number) =>
    setFolded(
      (before) => new Set(before.has(at) ? [...before].filter((each) => each !== at) : [...before, at]),
    );
  const longest = Math.max(...tree.map((each) => each.total_ms), 0.001);
  return (
    <Panel title="Call tree" className="fill timed-calls" aside={`${formatCount(tree.length)} functions`}>
      <p className="hint-line soft" role="status">
        {making.isPending
          ? "It runs…"
          : "Trace runs the program again, and shows the first call of the function."}
      </p>
      <ProblemMessage problem={making.error} />
      <div className="fill" tabIndex={0} role="group" aria-label="Functions by caller">
        <table className="table">
          <thead>
            <tr>
              <th scope="col">Function</th>
              <th scope="col">Calls</th>
              <th scope="col">Time</th>
              <th scope="col" className="wide-only">
                By itself
              </th>
              <th scope="col">
                <span className="unseen">Trace</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ at, calls, hasChildren, isOpen }) => (
              <tr key={at}>
                <td
                  className="timed-name"
                  style={{ paddingInlineStart: `${0.75 + (calls.depth ?? 0) * 1.1}rem` }}
                >
                  <span className="row">
                    {hasChildren ? (
                      <button
                        type="button"
                        className="quiet fold"
                        aria-expanded={isOpen}
                        aria-label={`What ${calls.function} called`}
                        onClick={() => toggle(at)}
                      >
                        {isOpen ? "▾" : "▸"}
                      </button>
                    ) : (
                      <span className="fold" />
                    )}
                    <span className="mono cut">{shortName(calls.function, calls.file)}</span>
                    <span className="soft mono wide-only">{formatPlace(calls)}</span>
                  </span>
                </td>
                <td className="narrow">
                  {formatCount(calls.calls)}
                  {calls.raised ? <span className="bad"> {formatCount(calls.raised)} raised</span> : null}
                </td>
                <td className="narrow timed">
                  <span className="bar" style={{ width: `${(calls.total_ms / longest) * 100}%` }} />
                  <span className="figure">{formatDuration(calls.total_ms)}</span>
                </td>
                <td className="narrow wide-only">{formatDuration(calls.own_ms)}</td>
                <td className="narrow">
                  <button
                    type="button"
                    className="quiet small"
                    disabled={making.isPending}
                    aria-label={`Trace ${calls.function}: run the program again`}
                    onClick={() =>
                      making.mutate({ trace: trace.trace_id, function: calls.function, again: true })
                    }
                  >
                    Trace
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}
