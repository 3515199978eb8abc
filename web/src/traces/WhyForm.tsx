import { type FormEvent, useEffect, useRef, useState } from "react";

import { expandPlace, shortenPlace } from "./recorded-places";
import { EXCEPTION, type WhyQuestion } from "./trace-queries";

interface WhyFormProps {
  /** What was asked last. */
  question: WhyQuestion | null;
  draft: Partial<WhyQuestion>;
  /** The files of the recording: places in them may be written short. */
  files: readonly string[];
  onAsk: (question: WhyQuestion) => void;
}

/** A variable, a place, and for which time that place is reached. */
export function WhyForm({ question, draft, files, onAsk }: WhyFormProps) {
  const [fields, setFields] = useState({ variable: "", at: "", hit: "1" });
  const hitBox = useRef<HTMLInputElement>(null);
  const asked = question && `${question.variable} ${question.at} ${question.hit}`;
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another question fills the form again
  useEffect(() => {
    if (!question || question.variable === EXCEPTION) return;
    setFields({
      variable: question.variable,
      at: shortenPlace(question.at, files),
      hit: String(question.hit),
    });
  }, [asked]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another draft fills the form again
  useEffect(() => {
    const { variable, at } = draft;
    if (at === undefined) return;
    setFields((before) => ({ variable: variable ?? before.variable, at: shortenPlace(at, files), hit: "1" }));
    if (variable !== undefined) hitBox.current?.select(); // this is what only the user knows
  }, [draft]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onAsk({
      variable: fields.variable.trim(),
      at: expandPlace(fields.at, files),
      hit: Number(fields.hit) || 1,
    });
  };
  const field = (name: keyof typeof fields) => ({
    className: "mono",
    required: true,
    spellCheck: false,
    autoCapitalize: "off",
    value: fields[name],
    onChange: (event: { target: { value: string } }) => setFields({ ...fields, [name]: event.target.value }),
  });
  return (
    <form className="why-form" onSubmit={submit}>
      <label className="why-variable">
        Variable
        <input placeholder="total, order.total or rows[2]" {...field("variable")} />
      </label>
      <label>
        Before this line runs
        <input placeholder="orders.py:12" {...field("at")} />
      </label>
      <label>
        Time
        <input
          ref={hitBox}
          inputMode="numeric"
          pattern="-?[0-9]+"
          title="For which time the line runs; -1 is the last time"
          {...field("hit")}
        />
      </label>
      <button type="submit" className="primary">
        Why?
      </button>
    </form>
  );
}
