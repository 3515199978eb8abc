import type { SourceBreakpoint } from "../code/source-marks";
import { formatPlace } from "../ui/format";
import type { Breakpoint } from "./program-state";

/** What the dialog asks about a breakpoint; an empty text is none. */
export interface BreakpointFields {
  condition: string;
  hit_condition: string;
  log_message: string;
  enabled: boolean;
}

/** The breakpoint that the dialog is about: one that is there, or one to be made at a line. */
export type EditedBreakpoint = { breakpoint: Breakpoint } | { file: string; line: number };

export const readFields = (breakpoint: Breakpoint | undefined): BreakpointFields => ({
  condition: breakpoint?.condition ?? "",
  hit_condition: breakpoint?.hit_condition ?? "",
  log_message: breakpoint?.log_message ?? "",
  enabled: breakpoint?.enabled ?? true,
});

/** Where a breakpoint is, or what it watches, in a few words. */
export function describeBreakpoint(breakpoint: Partial<Breakpoint>): string {
  const { kind, expression, file, line } = breakpoint;
  if (kind === "data") return `${expression} (${breakpoint.access_type ?? "write"})`;
  if (breakpoint.function) return `${breakpoint.function}()`;
  return formatPlace({ file: file ?? "", line: line ?? 0 });
}

/** The line at or after another one at which a breakpoint can stop. */
export function findExecutableLine(line: number, executable: readonly number[] | undefined): number {
  if (!executable?.length) return line;
  return executable.find((each) => each >= line) ?? line;
}

/** The line breakpoints of a file, one for each line, as the gutter shows them. */
export function listSourceBreakpoints(breakpoints: Breakpoint[], file: string): SourceBreakpoint[] {
  const byLine = new Map<number, SourceBreakpoint>();
  for (const each of breakpoints) {
    if (each.file !== file || each.line === undefined || each.kind === "data") continue;
    const kind = each.log_message ? "log" : each.condition || each.hit_condition ? "conditional" : "plain";
    byLine.set(each.line, { line: each.line, verified: each.verified, enabled: each.enabled, kind });
  }
  return [...byLine.values()];
}

export type ExceptionFilter = "raised" | "uncaught" | "userUnhandled";
