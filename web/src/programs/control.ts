import { type QueryClient, useMutation, useQueryClient } from "@tanstack/react-query";

import { api, bodyOf } from "../api/client";
import { sessionQuery } from "../api/queries";
import { holdOf, isProgram, type ProgramState } from "./program-state";
import { keepState } from "./queries";

export const STEPS = [
  { action: "continue", label: "Continue", key: "F5" },
  { action: "step-over", label: "Step over", key: "F10" },
  { action: "step-into", label: "Step into", key: "F11" },
  { action: "step-out", label: "Step out", key: "shift+F11" },
] as const;
export type Step = (typeof STEPS)[number]["action"];
type Errand = "pause" | "restart" | "terminate" | "detach";

/** Long enough for a step; a program that runs on shows itself as running after it. */
const WAIT = 1;
const include = ["locals", "stack"];

/** Everything that makes a program run or stop. */
export interface ProgramControl {
  /** Let the held program go: all of it, or only the thread that is looked at. */
  step: (action: Step, thread?: number) => void;
  runUntil: (expression: string, frame: number) => void;
  send: (errand: Errand) => void;
  continueThread: (thread: number) => void;
  pauseThread: (thread: number) => void;
  /** Whether it is on its way to the next stop. */
  isStepping: boolean;
  /** Whether something is on its way that ends this stop. */
  isBusy: boolean;
  problem: unknown;
}

/** The hold of the newest answer, not of the newest picture: keys come quicker than pictures. */
function readHold(client: QueryClient, id: string): string {
  const session = client.getQueryData(sessionQuery(id).queryKey);
  return isProgram(session) ? holdOf(session) : "";
}

export function useProgramControl(id: string): ProgramControl {
  const client = useQueryClient();
  const options = {
    // One after the other: a key that is pressed during a step waits for its end.
    scope: { id: `control ${id}` },
    onSuccess: async (state: ProgramState | null | undefined) => {
      if (state) await keepState(client, id, state);
    },
    onError: async () => {
      await client.invalidateQueries({ queryKey: ["session", id] });
      await client.invalidateQueries({ queryKey: ["stop", id] });
    },
  };
  const path = { session_id: id };
  // What is on its way of this stop would come back as an error.
  const stopReading = () => client.cancelQueries({ queryKey: ["stop", id] });
  const step = useMutation({
    ...options,
    mutationFn: async ({ action, thread }: { action: Step; thread?: number | undefined }) => {
      const hold = readHold(client, id);
      if (!hold) return null; // it ran on or ended before this key's turn came
      await stopReading();
      return thread === undefined ? decide(hold, action) : stepThread(id, thread, action);
    },
  });
  const until = useMutation({
    ...options,
    mutationFn: async ({ expression, frame }: { expression: string; frame: number }) => {
      await stopReading();
      return bodyOf(
        api.POST("/sessions/{session_id}/watch_until", {
          params: { path },
          body: { expression, frame_id: frame, by: "page", wait: WAIT, include },
        }),
      );
    },
  });
  const errand = useMutation({
    ...options,
    scope: { id: `errand ${id}` }, // a pause must not wait for the step that it is to interrupt
    mutationFn: async (what: Errand) => {
      await stopReading();
      return runErrand(id, what);
    },
    onSettled: () => client.invalidateQueries({ queryKey: ["breakpoints", id] }),
  });
  const thread = useMutation({
    ...options,
    mutationFn: async ({ thread, isPause }: { thread: number; isPause: boolean }) => {
      await stopReading();
      return isPause ? pauseThread(id, thread) : stepThread(id, thread, "continue");
    },
    onSettled: () => client.invalidateQueries({ queryKey: ["stop", id] }),
  });
  // What went wrong before is no longer of interest once something else is asked for.
  const forgetProblems = () => {
    for (const mutation of [step, until, errand, thread]) if (mutation.isError) mutation.reset();
  };
  const begin = <Given>(mutate: (given: Given) => void, given: Given) => {
    forgetProblems();
    mutate(given);
  };
  return {
    step: (action, thread) => begin(step.mutate, { action, thread }),
    runUntil: (expression, frame) => begin(until.mutate, { expression, frame }),
    send: (what) => begin(errand.mutate, what),
    continueThread: (id) => begin(thread.mutate, { thread: id, isPause: false }),
    pauseThread: (id) => begin(thread.mutate, { thread: id, isPause: true }),
    isStepping: step.isPending || until.isPending,
    isBusy: [step, until, errand, thread].some((mutation) => mutation.isPending),
    problem: step.error ?? until.error ?? errand.error ?? thread.error,
  };
}

const decide = async (hold: string, action: Step) =>
  (await bodyOf(
    api.POST("/api/holds/{hold_id}/decision", {
      params: { path: { hold_id: hold } },
      body: { action, by: "page", wait: WAIT, include },
    }),
  )) as ProgramState;

function stepThread(id: string, thread: number, action: Step): Promise<ProgramState> {
  const params = { path: { session_id: id, thread_id: thread } };
  const request = { params, body: { by: "page", wait: action === "continue" ? null : WAIT, include } };
  const answers = {
    continue: () => api.POST("/sessions/{session_id}/threads/{thread_id}/continue", request),
    "step-over": () => api.POST("/sessions/{session_id}/threads/{thread_id}/step-over", request),
    "step-into": () => api.POST("/sessions/{session_id}/threads/{thread_id}/step-into", request),
    "step-out": () => api.POST("/sessions/{session_id}/threads/{thread_id}/step-out", request),
  };
  return bodyOf(answers[action]()) as Promise<ProgramState>;
}

const pauseThread = (id: string, thread: number) =>
  bodyOf(
    api.POST("/sessions/{session_id}/threads/{thread_id}/pause", {
      params: { path: { session_id: id, thread_id: thread } },
      body: { by: "page", wait: WAIT, include },
    }),
  ) as Promise<ProgramState>;

function runErrand(id: string, what: Errand): Promise<ProgramState> {
  const params = { path: { session_id: id } };
  const request = { params, body: { by: "page", wait: WAIT, include } };
  const answers = {
    pause: () => api.POST("/sessions/{session_id}/pause", request),
    restart: () => api.POST("/sessions/{session_id}/restart", request),
    terminate: () => api.POST("/sessions/{session_id}/terminate", { params }),
    detach: () => api.POST("/sessions/{session_id}/detach", { params }),
  };
  return bodyOf(answers[what]()) as Promise<ProgramState>;
}
