import { type FormEvent, useEffect, useState } from "react";

import { expandPlace, shortenPlace } from "./recorded-places";
import { EXCEPTION, type WhyQuestion } from "./trace-queries";

interface WhyFormProps {
  /** What was asked last. */
  question: WhyQuestion | null;
  draft: { at?: string };
  /** The files of the recording: places in them may be written short. */
  files: readonly string[];
  onAsk: (question: WhyQuestion) => void;
}

/** A variable, a line, for which time it runs, and whether the value before or after that is meant. */
export function WhyForm({ question, draft, files, onAsk }: WhyFormProps) {
  const [fields, setFields] = useState({ variable: "", at: "", hit: "1" });
  const [after, setAfter] = useState(false);
  const asked = question && Object.values(question).join(" ");
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another question fills the form again
  useEffect(() => {
    if (!question || question.variable === EXCEPTION) return;
    setFields({
      variable: question.variable,
      at: shortenPlace(question.at, files),
      hit: question.hit ? String(question.hit) : "", // nobody has counted yet
    });
    setAfter(question.after);
  }, [asked]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another draft fills the form again
  useEffect(() => {
    const { at } = draft;
    if (at === undefined) return;
    setFields((before) => ({ ...before, at: shortenPlace(at, files), hit: "1" }));
    setAfter(false);
  }, [draft]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onAsk({
      variable: fields.variable.trim(),
      at: expandPlace(fields.at, files),
      hit: Number(fields.hit) || 1,
      after,
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
      <label>
        Variable
        <input placeholder="total, order.total or rows[2]" {...field("variable")} />
      </label>
      <label className="why-moment">
        Its value
        <select value={String(after)} onChange={(event) => setAfter(event.target.value === "true")}>
          <option value="false">before the line</option>
          <option value="true">after the line</option>
        </select>
      </label>
      <label>
        Line
        <input placeholder="orders.py:12" {...field("at")} />
      </label>
      <label>
        Time
        <input
          inputMode="numeric"
          pattern="-?[0-9]+"
          title="For which time the line runs, in all calls; -1 is the last time"
          {...field("hit")}
        />
      </label>
      <button type="submit" className="primary">
        Why?
      </button>
    </form>
  );
}
