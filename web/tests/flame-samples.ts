import type { TimelineAnswer } from "../src/calls/flame-timeline";

export interface SampleCall {
  start: number;
  duration: number | null;
  depth?: number;
  lane?: number;
  name?: string;
  status?: string;
}

/** An answer of the server with these calls, which are in the order of time. */
export function buildAnswer(calls: SampleCall[], more: Partial<TimelineAnswer> = {}): TimelineAnswer {
  const functions = [...new Set(calls.map((call) => call.name ?? "f"))];
  const statuses = [...new Set(calls.map((call) => call.status ?? "success"))];
  const laneCount = Math.max(0, ...calls.map((call) => (call.lane ?? 0) + 1));
  const latest = Math.max(0, ...calls.map((call) => call.start + (call.duration ?? 0)));
  return {
    base: 1_700_000_000,
    call_ids: calls.map((_, index) => `call_${index}`),
    start: calls.map((call) => call.start),
    duration: calls.map((call) => call.duration),
    function: calls.map((call) => functions.indexOf(call.name ?? "f")),
    lane: calls.map((call) => call.lane ?? 0),
    depth: calls.map((call) => call.depth ?? 0),
    status: calls.map((call) => statuses.indexOf(call.status ?? "success")),
    functions,
    lanes: Array.from({ length: laneCount }, (_, lane) => ({
      session_id: "s1",
      thread: `thread-${lane}`,
      thread_id: lane,
      task: null,
    })),
    statuses,
    total: calls.length,
    cut: false,
    earliest: 0,
    latest,
    looked_at: calls.length,
    undecided: 0,
    ...more,
  };
}
