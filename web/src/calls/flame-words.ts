import { formatClock, formatCount, formatDuration } from "../ui/format";
import type { LoadedCalls } from "./flame-query";
import type { FlameRow, Timeline } from "./flame-timeline";

type Lane = Timeline["lanes"][number];

/** What a lane is called: its thread, its task, and its session where there are several. */
export function nameLanes(lanes: readonly Lane[], nameSession: (id: string) => string): string[] {
  const hasSeveral = new Set(lanes.map((lane) => lane.session_id)).size > 1;
  return lanes.map((lane) => {
    const thread = lane.thread ?? (lane.thread_id === null ? "unknown thread" : `thread ${lane.thread_id}`);
    const parts = [hasSeveral ? nameSession(lane.session_id) : null, thread, lane.task];
    return parts.filter(Boolean).join(" · ");
  });
}

/** What one knows of a call without opening it. */
export function describeCall(timeline: Timeline, call: number, isHeld: boolean) {
  const status = timeline.statuses[timeline.statusOf[call] as number] ?? "";
  const start = timeline.start[call] as number;
  const isRunning = status === "running";
  return {
    name: timeline.functions[timeline.functionOf[call] as number] ?? "",
    duration: isRunning ? "not ended" : formatDuration((timeline.end[call] as number) - start),
    status: isHeld ? "held" : status,
    clock: formatClock(new Date(timeline.base + start).toISOString()),
    depth: (timeline.rows[timeline.rowOf[call] as number] as FlameRow).depth,
  };
}

/** How many calls are shown, of how many, and how far a filter has looked. */
export function describeAmount(loaded: LoadedCalls, hasFilter: boolean): string {
  const { timeline, total, isCut, range, lookedAt, undecided } = loaded;
  const where = range ? " of this range" : "";
  if (hasFilter) {
    const parts = [`${formatCount(timeline.count)} fit, of the latest ${formatCount(lookedAt)}${where}`];
    if (total > lookedAt) parts.push(`not looked at: ${formatCount(total - lookedAt)}`);
    if (undecided) parts.push(`no answer for ${formatCount(undecided)}`);
    return parts.join(" · ");
  }
  if (isCut) return `latest ${formatCount(timeline.count)} of ${formatCount(total)} calls${where}`;
  return `${formatCount(timeline.count)} ${timeline.count === 1 ? "call" : "calls"}${where}`;
}
