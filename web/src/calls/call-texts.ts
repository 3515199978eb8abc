import type { Schemas } from "../api/client";

export type Call = Schemas["CallSummary"];
export type Value = Schemas["Value"];

/** The name by which one knows a function: `Shop.sell`. */
export const nameCall = (call: Pick<Call, "qualname" | "method_name">): string =>
  call.qualname ?? call.method_name;

/** The arguments as one would write them: `'tea', count=2`. */
export function formatArguments(call: Pick<Call, "args" | "kwargs">): string {
  const named = Object.entries(call.kwargs).map(([name, value]) => `${name}=${value.text}`);
  return [...call.args.map((value) => value.text), ...named].join(", ");
}

/** What came of a call, as its caller saw it; empty while it runs. */
export function formatOutcome(call: Call): string {
  const delivered = call.delivered;
  if (delivered?.exception_type) return formatException(delivered);
  if (delivered?.result) return delivered.result.text;
  return call.status === "exception" ? formatException(call) : (call.result?.text ?? "");
}

interface RaisedException {
  exception_type?: string | null;
  exception_message?: string | null;
}

export function formatException({ exception_type, exception_message }: RaisedException): string {
  return exception_message ? `${exception_type}: ${exception_message}` : (exception_type ?? "");
}

/** Splits at the commas that stand outside of brackets and quotes. */
function splitParameters(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let quote = "";
  let part = "";
  for (const [at, sign] of [...text].entries()) {
    if (quote) quote = sign === quote && text[at - 1] !== "\\" ? "" : quote;
    else if (sign === "'" || sign === '"') quote = sign;
    else if ("([{".includes(sign)) depth += 1;
    else if (")]}".includes(sign)) depth -= 1;
    if (sign === "," && depth === 0 && !quote) {
      parts.push(part);
      part = "";
    } else part += sign;
  }
  return [...parts, part].map((each) => each.trim()).filter(Boolean);
}

/** The names of the parameters that take positional arguments, and of the one that takes the rest. */
export function listPositionalNames(signature: string | null): { names: string[]; rest: string | null } {
  const names: string[] = [];
  if (!signature?.startsWith("(")) return { names, rest: null };
  const end = signature.lastIndexOf(")");
  for (const parameter of splitParameters(signature.slice(1, end))) {
    const name = /^\**[\p{L}_][\p{L}\p{N}_]*/u.exec(parameter)?.[0];
    if (parameter === "/") continue;
    if (parameter === "*" || !name || name.startsWith("**")) return { names, rest: null };
    if (name.startsWith("*")) return { names, rest: name.slice(1) };
    names.push(name);
  }
  return { names, rest: null };
}

export interface LabelledValue {
  label: string;
  value: Value;
}

/** The arguments of a call with the names of their parameters, as far as the signature tells. */
export function labelArguments(
  call: Pick<Schemas["CallDetail"], "args" | "kwargs" | "signature">,
): LabelledValue[] {
  const { names, rest } = listPositionalNames(call.signature);
  const label = (at: number) => names[at] ?? (rest ? `${rest}[${at - names.length}]` : `args[${at}]`);
  return [
    ...call.args.map((value, at) => ({ label: value.name ?? label(at), value })),
    ...Object.entries(call.kwargs).map(([name, value]) => ({ label: name, value })),
  ];
}

/** What a call left different, by the same names: the values afterwards. */
export function labelChanges(call: Schemas["CallDetail"]): LabelledValue[] {
  const labels = labelArguments(call).map((each) => each.label);
  const { args = {}, kwargs = {}, target } = call.changed ?? {};
  return [
    ...Object.entries(args).map(([at, value]) => ({ label: labels[Number(at)] ?? `args[${at}]`, value })),
    ...Object.entries(kwargs).map(([label, value]) => ({ label, value })),
    ...(target ? [{ label: TARGET, value: target }] : []),
  ];
}

/** What the object of a call is called where its arguments have names. */
export const TARGET = "object";
export const RESULT = "result";

/** Whether the text of a value is not all of it. */
export const isCut = (value: Value): boolean =>
  value.json === undefined && /\.\.\.|…/.test(value.text) && value.marker === undefined;
