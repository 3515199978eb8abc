import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";

import { Panel, ProblemMessage } from "../ui/parts";
import { setVariable, useAgentAction, variablesQuery } from "./agent-queries";
import { isJson } from "./json-text";

interface VariablesPanelProps {
  session: string;
  lane: string;
  /** Changes when the agent stands somewhere else, so that it is asked again. */
  moment: string;
  isLive: boolean;
  /** Variables that the debugger set, as JSON. */
  recorded: Record<string, string>;
}

/** The variables that the loop has told of, and a way to set one. */
export function VariablesPanel({ session, lane, moment, isLive, recorded }: VariablesPanelProps) {
  const [asked, setAsked] = useState(0);
  const query = variablesQuery(session, `${moment} ${asked}`);
  const { data, error } = useQuery({ ...query, enabled: isLive });
  const known = isLive ? (data ?? []) : Object.entries(recorded).map(([name, text]) => ({ name, text }));
  const [key, setKey] = useState("");
  const [value, setValue] = useState("");
  const setting = useAgentAction(session, (given: { key: string; value: string }) =>
    setVariable(session, given.key, given.value, lane),
  );
  const isWrong = value !== "" && !isJson(value);
  const set = (event: FormEvent) => {
    event.preventDefault();
    if (key && value && !isWrong)
      setting.mutate({ key, value }, { onSuccess: () => setAsked((count) => count + 1) });
  };
  const refresh = (
    <button type="button" className="quiet" onClick={() => setAsked((count) => count + 1)}>
      Ask again
    </button>
  );
  if (!isLive && !known.length) return null;
  return (
    <Panel title="Variables" aside={isLive ? refresh : null}>
      <div className="panel-body">
        <ProblemMessage problem={error} />
        {known.length ? (
          <dl className="values">
            {known.map((member) => (
              <div key={member.name}>
                <dt>{member.name}</dt>
                <dd>
                  <code>{member.text.slice(0, 500)}</code>
                </dd>
              </div>
            ))}
          </dl>
        ) : (
          <p className="soft">
            The loop names none. <code>dbg.run(vars=state)</code> shows and sets them.
          </p>
        )}
        {isLive && known.length ? (
          <form className="decision-form" onSubmit={set}>
            <label>
              variable
              <input list="agent-variables" value={key} onChange={(event) => setKey(event.target.value)} />
            </label>
            <datalist id="agent-variables">
              {known.map((member) => (
                <option key={member.name} value={member.name} />
              ))}
            </datalist>
            <label className="grow">
              set to (JSON)
              <input
                value={value}
                aria-invalid={isWrong}
                onChange={(event) => setValue(event.target.value)}
              />
            </label>
            <button type="submit" disabled={!key || !value || isWrong}>
              Set
            </button>
          </form>
        ) : null}
        <p className="soft" role="status">
          {isWrong
            ? "That is not JSON: a text stands in double quotes."
            : setting.isSuccess
              ? "It was set."
              : ""}
        </p>
        <ProblemMessage problem={setting.error} />
      </div>
    </Panel>
  );
}
