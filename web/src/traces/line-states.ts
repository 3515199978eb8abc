import { listBody, type Source, type SourceLine } from "./python-source";
import type { Pass } from "./traced-pass";

/** Whether a line ran in the rounds that are looked at; `unknown` if that was not kept. */
export type LineState = "ran" | "skipped" | "unknown" | "plain";

/** The state of every line. What is no code, such as a comment, is plain. */
export function describeLines(source: Source, pass: Pass): ReadonlyMap<number, LineState> {
  const unknown = new Set([...pass.unclear].flatMap((loop) => [...listBody(source, loop)]));
  const hasRun = (line: number): boolean => {
    if (line <= source.head || pass.executed.has(line)) return true;
    const owner = source.owners.get(line);
    return owner !== undefined && hasRun(owner);
  };
  const describe = (line: SourceLine): LineState => {
    if (hasRun(line.number)) return "ran";
    if (unknown.has(line.number)) return "unknown";
    return isCode(line) ? "skipped" : "plain";
  };
  return new Map(source.lines.map((line) => [line.number, describe(line)]));
}

/** Docstrings and comments are none. */
const isCode = (line: SourceLine): boolean =>
  line.pieces.some(({ text, look }) => text.trim() !== "" && !/tok-(string|comment)/.test(look));
