import type { Schemas } from "../api/client";

export type CallBreakpoint = Schemas["CallBreakpointAnswer"];
export type SentFields = Schemas["CallBreakpointFields"];

/** A breakpoint as it stands in the boxes of its form; an empty text is nothing. */
export interface FormFields {
  function: string;
  alias: string;
  call_type: string;
  condition: string;
  hit_condition: string;
  when: string;
  session_id: string;
}

export const NO_FIELDS: FormFields = {
  function: "",
  alias: "",
  call_type: "",
  condition: "",
  hit_condition: "",
  when: "before",
  session_id: "",
};

/** The boxes for a breakpoint that is there. */
export function readFields(point: CallBreakpoint): FormFields {
  const given = Object.keys(NO_FIELDS).map((name) => [name, point[name as keyof FormFields] ?? ""]);
  return Object.fromEntries(given) as unknown as FormFields;
}

/** What is sent to the server: nothing is null, so that a change can take something away. */
export function buildFields(fields: FormFields): SentFields {
  const texts = Object.entries(fields).map(([name, text]) => [name, text.trim() || null]);
  return { ...Object.fromEntries(texts), when: fields.when } as SentFields;
}

/** What a breakpoint matches, in words. */
export function describeMatch(point: CallBreakpoint): string {
  const kind = point.call_type === "inline" ? "inline calls" : "calls";
  const name = point.function ? ` of ${point.function}` : "";
  const alias = point.alias ? ` named ${point.alias}` : "";
  return name || alias ? `${kind}${name}${alias}` : `all ${kind}`;
}
