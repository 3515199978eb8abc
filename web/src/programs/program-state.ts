import type { Schemas } from "../api/client";

export type Program = Schemas["ProgramDetail"];
export type ProgramState = Schemas["ProgramStatus"];
export type Breakpoint = Schemas["BreakpointAnswer"];
export type Variable = Schemas["Variable"];
export type Frame = Schemas["Frame"];
export type Thread = Schemas["Thread"];

/** Whether a session is of a program; the other kinds have other pages. */
export const isProgram = (session: { kind: string } | undefined): session is Program =>
  session?.kind === "program";

/** The hold at which the program waits; empty while it runs. */
export const holdOf = (program: Program | undefined): string =>
  program?.status === "paused" ? (program.hold_id ?? "") : "";

const CONFIGURATION = [
  "attach",
  "breakpoints",
  "children",
  "created_at",
  "cwd",
  "exception_breakpoints",
  "expires_in_seconds",
  "kind",
  "last_event",
  "launch",
  "name",
  "output_cursor",
  "parent_id",
  "pid",
  "project",
  "python_version",
  "recoverable",
  "route",
  "run",
  "subprocesses",
  "target",
  "timeout_minutes",
  "watches",
] as const satisfies (keyof Program)[];

/** The session, after an answer said where its program is now. */
export function mergeState(before: Program, state: ProgramState): Program {
  const kept = Object.fromEntries(CONFIGURATION.map((key) => [key, before[key]]));
  const { locals: _, stack: __, stack_total: ___, source: ____, output: _____, ...now } = state;
  return { ...kept, ...now } as Program;
}
