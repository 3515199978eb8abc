import { type FormEvent, useState } from "react";

import type { AgentHold, Decision } from "./agent-queries";

type Decide = (decision: Decision) => void;

/** Do not run it: give the loop this value. */
export function SkipForm({ hold, onDecide }: { hold: AgentHold; onDecide: Decide }) {
  const [value, setValue] = useState("null");
  const decide = (event: FormEvent) => {
    event.preventDefault();
    onDecide({ action: "skip", fake_result: { text: value } } as Decision);
  };
  return (
    <form className="decision-form" onSubmit={decide}>
      <label className="grow">
        value
        <input value={value} onChange={(event) => setValue(event.target.value)} />
      </label>
      <button type="submit">Skip</button>
      <p className="soft">
        {hold.at === "error"
          ? "The loop gets this value instead of the error."
          : "It does not run. The loop gets this value, as JSON or a Python literal."}
      </p>
    </form>
  );
}

/** Do not run it: raise this in the loop. */
export function RaiseForm({ onDecide }: { onDecide: Decide }) {
  const [type, setType] = useState("RuntimeError");
  const [message, setMessage] = useState("");
  const decide = (event: FormEvent) => {
    event.preventDefault();
    onDecide({ action: "raise", exception_type: type, exception_message: message } as Decision);
  };
  return (
    <form className="decision-form" onSubmit={decide}>
      <label>
        exception
        <input value={type} onChange={(event) => setType(event.target.value)} />
      </label>
      <label className="grow">
        message
        <input value={message} onChange={(event) => setMessage(event.target.value)} />
      </label>
      <button type="submit">Raise</button>
    </form>
  );
}
