import { createContext, use } from "react";

import { ServerProblem } from "../api/client";

/** Whether the program is held and stays so: while it is let go, nothing can be read of its stop. */
export const StopReading = createContext(true);

export const useCanRead = (): boolean => use(StopReading);

/** What went wrong with reading. That the stop was over meanwhile is no problem: the next one is shown. */
export function readingProblem(problem: unknown): unknown {
  return problem instanceof ServerProblem && problem.code === "HOLD_OVER" ? null : problem;
}
