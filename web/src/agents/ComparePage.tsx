import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useMemo, useRef, useState } from "react";

import type { Schemas } from "../api/client";
import { useAddressValue } from "../ui/address";
import { useCommand } from "../ui/commands";
import { formatCount, formatDuration } from "../ui/format";
import { EmptyState, KeyHint, Panel, ProblemMessage } from "../ui/parts";
import { comparisonQuery } from "./agent-queries";
import "./agents.css";
import { ComparedPair } from "./ComparedPair";
import { formatCost } from "./ConversationRow";
import { findDifference, foldPairs } from "./compared-rows";

/** Two runs side by side. What is the same is folded; the first difference is open. */
export function ComparePage() {
  const [left] = useAddressValue("left");
  const [right] = useAddressValue("right");
  const { data, error, isLoading } = useQuery(comparisonQuery(left, right));
  return (
    <div className="stacked-view agent-pages">
      <h1 className="unseen">Compare two runs</h1>
      <ProblemMessage problem={error} />
      {left && right ? null : (
        <EmptyState command="holdfast agent diff A B">
          Choose two runs under <Link to="/agents">Agents</Link>. On the command line:
        </EmptyState>
      )}
      {isLoading ? <p className="empty">Comparing…</p> : null}
      {data ? <Comparison runs={data} /> : null}
    </div>
  );
}

function Comparison({ runs }: { runs: Schemas["ComparedRuns"] }) {
  const first = runs.first_difference;
  const [atText, setAt] = useAddressValue("at", first === null ? "" : String(first));
  const at = Number(atText || -1);
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const rows = useMemo(() => foldPairs(runs.steps, opened), [runs, opened]);
  const current = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it moves when another difference is chosen
  useEffect(() => {
    current.current?.scrollIntoView({ block: "nearest" }); // its result is no clean-up
  }, [at]);
  const go = (direction: 1 | -1) => setAt(String(findDifference(runs.steps, at, direction)));
  const different = runs.steps.filter((pair) => !pair.same).length;
  useCommand("Go to the next difference", "n", () => go(1), different > 0);
  useCommand("Go to the previous difference", "p", () => go(-1), different > 0);
  const toggle = (key: string) =>
    setOpened(
      (before) => new Set(before.has(key) ? [...before].filter((each) => each !== key) : [...before, key]),
    );
  const aside = different ? (
    <>
      <button type="button" onClick={() => go(-1)}>
        Previous difference <KeyHint of="p" />
      </button>
      <button type="button" onClick={() => go(1)}>
        Next difference <KeyHint of="n" />
      </button>
    </>
  ) : null;
  return (
    <>
      <RunTotals runs={runs} />
      <Panel title="Steps" className="fill compared" aside={aside}>
        <p className="hint-line soft" role="status">
          {different
            ? `${runs.same} of ${runs.total_steps} steps are the same, ${different} differ.`
            : `All ${runs.total_steps} steps are the same.`}
          {runs.has_more ? ` Only the first ${runs.steps.length} are shown.` : ""} {runs.lineage?.text ?? ""}
        </p>
        <div className="fill" tabIndex={0} role="group" aria-label="Steps side by side">
          {rows.map((row) =>
            row.kind === "pair" ? (
              <div key={row.key} ref={row.pair.index === at ? current : null}>
                <ComparedPair
                  pair={row.pair}
                  runs={runs}
                  isCurrent={row.pair.index === at}
                  isOpen={row.pair.index === at}
                  onOpen={() => setAt(String(row.pair.index))}
                />
              </div>
            ) : (
              <div key={row.key}>
                <button
                  type="button"
                  className="quiet fold"
                  aria-expanded={row.isOpen}
                  onClick={() => toggle(row.key)}
                >
                  {row.isOpen ? "▾" : "▸"} {row.pairs.length}{" "}
                  {row.pairs.length === 1 ? "step is" : "steps are"} the same
                </button>
                {row.isOpen
                  ? row.pairs.map((pair) => (
                      <ComparedPair
                        key={pair.index}
                        pair={pair}
                        runs={runs}
                        isCurrent={false}
                        isOpen={false}
                        onOpen={() => setAt(String(pair.index))}
                      />
                    ))
                  : null}
              </div>
            ),
          )}
        </div>
      </Panel>
    </>
  );
}

const TOTALS: [string, (run: Schemas["ComparedTotals"]) => string][] = [
  ["Steps", (run) => formatCount(run.steps)],
  ["Iterations", (run) => formatCount(run.iterations)],
  ["Tools", (run) => formatCount(run.tool_calls)],
  ["Failures", (run) => formatCount(run.failures)],
  ["Tokens", (run) => formatCount(run.input_tokens + run.output_tokens)],
  ["Cost", (run) => (run.cost === null ? "–" : formatCost(run.cost))],
  ["Time", (run) => formatDuration(run.duration_ms)],
];

function RunTotals({ runs }: { runs: Schemas["ComparedRuns"] }) {
  return (
    <section className="run-totals" aria-label="Totals">
      <div className="scroll-x" tabIndex={0} role="group" aria-label="Totals of both runs">
        <table className="totals">
          <thead>
            <tr>
              <th scope="col">
                <span className="unseen">Run</span>
              </th>
              {TOTALS.map(([name]) => (
                <th scope="col" key={name}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {[runs.left, runs.right].map((run, index) => (
              <tr key={index === 0 ? "left" : "right"}>
                <th scope="row">
                  <span className="side">{index === 0 ? "A" : "B"}</span>{" "}
                  <Link to="/agents/$id" params={{ id: run.session_id } as never}>
                    {run.name || run.session_id}
                  </Link>{" "}
                  <span className="soft mono">{run.session_id}</span>
                </th>
                {TOTALS.map(([name, show]) => (
                  <td key={name}>{show(run)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
