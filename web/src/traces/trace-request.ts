import type { Schemas } from "../api/client";
import { splitWords } from "../programs/launch-request";

/** What the form asks: texts, as one types them in a shell. */
export interface TraceFields {
  target: string;
  args: string;
  function: string;
  /** Which of the function's calls is wanted. */
  pick: "number" | "where" | "raised";
  call: string;
  where: string;
  cwd: string;
  python: string;
}

export const emptyTrace: TraceFields = {
  target: "",
  args: "",
  function: "",
  pick: "number",
  call: "1",
  where: "",
  cwd: "",
  python: "",
};

/** The request that runs a program and records it. It throws if the fields make no sense. */
export function makeTraceRequest(fields: TraceFields): Partial<Schemas["DebugTrace"]> {
  const { target, args, cwd, python } = fields;
  const words = splitWords(args);
  return {
    target: target.trim(),
    ...(words.length ? { args: words } : {}),
    ...(fields.function.trim() ? { function: fields.function.trim(), ...makePick(fields) } : {}),
    ...(cwd.trim() ? { cwd: cwd.trim() } : {}),
    ...(python.trim() ? { python: python.trim() } : {}),
  };
}

function makePick({ pick, call, where }: TraceFields): Partial<Schemas["DebugTrace"]> {
  if (pick === "raised") return { raised: true };
  if (pick === "where") {
    if (!where.trim()) throw new Error("Write a condition on the arguments, such as n > 3.");
    return { where: where.trim() };
  }
  const number = Number(call.trim() || "1");
  if (!Number.isInteger(number) || number < 1) throw new Error("Calls are counted from 1 on.");
  return { call: number };
}
