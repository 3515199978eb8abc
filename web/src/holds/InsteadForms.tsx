import { type ReactNode, useState } from "react";

import { KeyHint, Panel } from "../ui/parts";
import type { Decision, HeldCallHold } from "./decision";

interface InsteadFormsProps {
  hold: HeldCallHold;
  may: (action: string) => boolean;
  onDecide: (decision: Decision) => void;
}

/** What can happen instead of the call, or of its outcome: another value, an exception, another function. */
export function InsteadForms({ hold, may, onDecide }: InsteadFormsProps) {
  const isBefore = hold.when === "before";
  return (
    <Panel title={isBefore ? "Instead of the call" : "Instead of its outcome"}>
      <div className="instead">
        <SkipForm hold={hold} isPossible={may("skip")} onDecide={onDecide} />
        <RaiseForm isPossible={may("raise")} onDecide={onDecide} />
        {isBefore ? <ReplaceForm hold={hold} isPossible={may("replace")} onDecide={onDecide} /> : null}
      </div>
    </Panel>
  );
}

interface FormProps {
  isPossible: boolean;
  onDecide: (decision: Decision) => void;
}

interface DecisionFormProps {
  title: string;
  isPossible: boolean;
  decide: () => void;
  children: ReactNode;
}

function DecisionForm({ title, isPossible, decide, children }: DecisionFormProps) {
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        decide();
      }}
    >
      <fieldset disabled={!isPossible}>
        <legend>{title}</legend>
        {children}
      </fieldset>
    </form>
  );
}

function SkipForm({ hold, isPossible, onDecide }: FormProps & { hold: HeldCallHold }) {
  const [value, setValue] = useState(hold.result?.literal ?? "None");
  const decide = () => onDecide({ action: "skip", fake_result: { text: value } });
  return (
    <DecisionForm title="Return a value" isPossible={isPossible} decide={decide}>
      <label>
        value
        <input
          name="value"
          className="mono"
          value={value}
          spellCheck={false}
          onChange={(event) => setValue(event.target.value)}
        />
      </label>
      <button type="submit">
        Skip <KeyHint of="s" />
      </button>
    </DecisionForm>
  );
}

function RaiseForm({ isPossible, onDecide }: FormProps) {
  const [exception, setException] = useState("ValueError");
  const [message, setMessage] = useState("");
  const decide = () => onDecide({ action: "raise", exception_type: exception, exception_message: message });
  return (
    <DecisionForm title="Raise an exception" isPossible={isPossible} decide={decide}>
      <label>
        exception
        <input
          name="exception"
          className="mono"
          value={exception}
          spellCheck={false}
          onChange={(event) => setException(event.target.value)}
        />
      </label>
      <label>
        message
        <input name="message" value={message} onChange={(event) => setMessage(event.target.value)} />
      </label>
      <button type="submit">
        Raise <KeyHint of="x" />
      </button>
    </DecisionForm>
  );
}

function ReplaceForm({ hold, isPossible, onDecide }: FormProps & { hold: HeldCallHold }) {
  const names = hold.replacements;
  const [chosen, setChosen] = useState("");
  const name = names.includes(chosen) ? chosen : (names[0] ?? "");
  const decide = () => onDecide({ action: "replace", function_name: name });
  return (
    <DecisionForm title="Call another function" isPossible={isPossible && names.length > 0} decide={decide}>
      <label>
        function
        <select value={name} onChange={(event) => setChosen(event.target.value)}>
          {names.length ? null : <option value="">none takes these arguments</option>}
          {names.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </label>
      <button type="submit">Replace</button>
    </DecisionForm>
  );
}
