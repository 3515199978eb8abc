import type { RecordedCall, TraceSummary } from "./trace-queries";

const KINDS: Record<string, string> = {
  frame: "calls of a function",
  run: "the whole run",
  calls: "the call tree",
};

/** What a recording has, in words. */
export const nameKind = ({
  recorded,
  function: name,
}: Pick<TraceSummary, "recorded" | "function">): string =>
  recorded === "frame" && name ? `calls of ${name}` : (KINDS[recorded] ?? recorded);

/** What was run, without the directory that it is in. */
export const nameTarget = ({ target, trace_id }: Pick<TraceSummary, "target" | "trace_id">): string =>
  target.replace(/^\/\S*\/(?=[^\s/])/, "") || trace_id;

/** A size in the unit in which it has few digits. */
export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${Number((bytes / 1_000).toPrecision(3))} kB`;
  return `${Number((bytes / 1_000_000).toPrecision(3))} MB`;
}

/** Where a value was found, as the server says it: `orders.total call 2: line 12: amount = 8`. */
export function readFinding(text: string, calls: readonly RecordedCall[]) {
  const [, name, index, line, words] = /^(\S+) call (\d+): (?:line (\d+): )?(.*)$/s.exec(text) ?? [];
  const call = calls.find((each) => each.function === name && each.index === Number(index));
  if (!call) return null;
  return { key: call.key, line, words, place: `${name} call ${index}${line ? `, line ${line}` : ""}` };
}
