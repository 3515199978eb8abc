import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";

import { Panel, ProblemMessage } from "../ui/parts";
import { type AgentBreakpoint, breakpointsQuery, sendCommand, useAgentAction } from "./agent-queries";

/** What each kind of breakpoint is about, and the field that says it. */
const KINDS = {
  tool: { field: "name", label: "name of the tool, or a glob", example: "write_*", isNumber: false },
  iteration: { field: "count", label: "number of the model call", example: "5", isNumber: true },
  pattern: { field: "regex", label: "regular expression over the input", example: "rm -rf", isNumber: false },
  model: { field: "name", label: "name of the model, or a glob", example: "*", isNumber: false },
  error: { field: "name", label: "name of what fails, or a glob", example: "*", isNumber: false },
  tokens: { field: "count", label: "number of tokens", example: "50000", isNumber: true },
  condition: { field: "condition", label: "condition", example: "tool == 'pay'", isNumber: false },
} as const;
type Kind = keyof typeof KINDS;

/** Where the agent is to be held: its breakpoints, to be added and removed. */
export function BreakpointsPanel({ session }: { session: string }) {
  const client = useQueryClient();
  const { data, error } = useQuery(breakpointsQuery(session));
  const change = useAgentAction(session, async (fields: Record<string, unknown>) => {
    await sendCommand(session, { type: "breakpoint", data: fields });
    await client.invalidateQueries({ queryKey: ["recorded", session, "breakpoints"] });
  });
  return (
    <Panel title="Breakpoints">
      <div className="panel-body">
        <ProblemMessage problem={error ?? change.error} />
        <ul className="breakpoint-list">
          {(data ?? []).map((point) => (
            <li key={point.id} className="row">
              <code className="grow cut">{describeBreakpoint(point)}</code>
              <button
                type="button"
                className="quiet danger"
                onClick={() => change.mutate({ action: "clear", id: point.id })}
              >
                Remove<span className="unseen"> {describeBreakpoint(point)}</span>
              </button>
            </li>
          ))}
        </ul>
        <BreakpointForm onAdd={(fields) => change.mutate({ action: "add", ...fields })} />
      </div>
    </Panel>
  );
}

export function describeBreakpoint(point: AgentBreakpoint): string {
  const field = point.on in KINDS ? KINDS[point.on as Kind].field : "name";
  const more = [
    point.if ? `if ${point.if}` : "",
    point.lane ? `in ${point.lane}` : "",
    point.hits ? `(hit ${point.hits}×)` : "",
  ];
  return [point.on, point[field] ?? "", ...more].filter((part) => part !== "").join(" ");
}

function BreakpointForm({ onAdd }: { onAdd: (fields: Record<string, unknown>) => void }) {
  const [kind, setKind] = useState<Kind>("tool");
  const [text, setText] = useState("");
  const { field, label, example, isNumber } = KINDS[kind];
  const add = (event: FormEvent) => {
    event.preventDefault();
    if (!text) return;
    onAdd({ on: kind, [field]: isNumber ? Number(text) : text });
    setText("");
  };
  return (
    <form className="decision-form" onSubmit={add}>
      <label>
        hold at
        <select value={kind} onChange={(event) => setKind(event.target.value as Kind)}>
          {Object.keys(KINDS).map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <label className="grow">
        {label}
        <input
          value={text}
          placeholder={example}
          inputMode={isNumber ? "numeric" : "text"}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      <button type="submit" disabled={!text}>
        Add
      </button>
    </form>
  );
}
