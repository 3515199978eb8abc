import { useState } from "react";

import { CopyableCommand, Panel } from "../ui/parts";
import type { AgentSession } from "./agent-queries";
import { type RuleAction, writeRule } from "./rule-text";

const MEANINGS: Record<RuleAction, string> = {
  hold: "always hold",
  deny: "never run",
  allow: "never hold",
};

/** The rules of the agent's project, which last, and the text of a new one. */
export function RulesPanel({ session, tool }: { session: AgentSession; tool: string }) {
  const [action, setAction] = useState<RuleAction>("hold");
  const [name, setName] = useState<string | null>(null);
  const shown = name ?? (tool || "write_*");
  const rules = session.rules ?? [];
  return (
    <Panel title="Lasting rules" aside="holdfast.toml">
      <div className="panel-body">
        {rules.length ? (
          <ol className="breakpoint-list">
            {rules.map((rule) => (
              <li key={String(rule.id)}>
                <b>{String(rule.action)}</b> <code>{describeRule(rule)}</code>{" "}
                <span className="soft">{String(rule.source ?? "")}</span>
              </li>
            ))}
          </ol>
        ) : (
          <p className="soft">Its project has none. A rule counts from the first call of every run on.</p>
        )}
        <details>
          <summary>Write a rule</summary>
          <div className="decision-form">
            <label>
              what to do
              <select value={action} onChange={(event) => setAction(event.target.value as RuleAction)}>
                {Object.entries(MEANINGS).map(([value, label]) => (
                  <option key={value} value={value}>
                    {label}
                  </option>
                ))}
              </select>
            </label>
            <label className="grow">
              tool of the rule
              <input value={shown} onChange={(event) => setName(event.target.value)} />
            </label>
          </div>
          <p className="soft">
            Put this into <code>holdfast.toml</code> in <code>{session.cwd ?? "the project"}</code>. It counts
            when the agent is started the next time.
          </p>
          <CopyableCommand text={writeRule(action, shown)} />
        </details>
      </div>
    </Panel>
  );
}

const describeRule = (rule: Record<string, unknown>): string =>
  ["tool", "pattern", "condition"]
    .filter((name) => rule[name] !== undefined)
    .map((name) => `${name} ${rule[name]}`)
    .join(", ");
