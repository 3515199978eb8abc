import type { Event } from "../live/event-stream";

/** The events at which a replay stands still; all others change nothing that one could see. */
export const STEP_TYPES = [
  ...["session_start", "lane_start", "api_request", "api_response", "tool_call_start", "tool_call_end"],
  ...["paused", "resumed", "message_injected", "variable_set", "conversation_edited", "error", "session_end"],
];

/** An event of a run, as the time slider knows it. */
export interface ReplayStep {
  seq: number;
  type: string;
  /** When it was, in milliseconds. */
  time: number;
  /** What it is about: a tool or a model. */
  name: string;
  mark: "hold" | "error" | null;
}

export function readStep(event: Event): ReplayStep {
  const data = (event.data ?? {}) as Record<string, unknown>;
  const isError = event.type === "error" || data.isError === true;
  return {
    seq: event.seq,
    type: event.type,
    time: Date.parse(String(event.timestamp)),
    name: String(data.name ?? data.model ?? data.lane ?? data.key ?? ""),
    mark: event.type === "paused" ? "hold" : isError ? "error" : null,
  };
}

/** The step at an event, or the last one before it. */
export function findStep(steps: ReplayStep[], seq: number): number {
  let low = 0;
  let high = steps.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((steps[middle] as ReplayStep).seq <= seq) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

const LONGEST_PAUSE = 2_000;
const SHORTEST_PAUSE = 40;

/** How long a replay waits before it goes on to a step. Nobody wants to watch a long hold again. */
export function choosePause(from: ReplayStep, to: ReplayStep, speed: number): number {
  const pause = (to.time - from.time) / speed;
  return Math.min(LONGEST_PAUSE, Math.max(SHORTEST_PAUSE, Number.isFinite(pause) ? pause : 0));
}

const WORDS: Record<string, string> = {
  session_start: "the run begins",
  lane_start: "a sub-agent begins:",
  api_request: "asks the model",
  api_response: "the model answers:",
  tool_call_start: "runs the tool",
  tool_call_end: "the tool ends:",
  paused: "is held at",
  resumed: "goes on",
  message_injected: "a message was injected",
  variable_set: "a variable was set:",
  conversation_edited: "the conversation was edited",
  error: "an error",
  session_end: "the run ends",
};

export const describeStep = (step: ReplayStep): string =>
  `${WORDS[step.type] ?? step.type} ${step.name}`.trim();
