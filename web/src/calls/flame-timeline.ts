import type { Schemas } from "../api/client";

export type TimelineAnswer = Schemas["CallTimeline"];

export const LABEL_HEIGHT = 20;
export const ROW_HEIGHT = 18;
const LANE_GAP = 8;

/** The calls at one depth of one lane. They do not overlap, so their starts and their ends are in order. */
export interface FlameRow {
  lane: number;
  depth: number;
  /** The places of its calls in the timeline. */
  calls: Uint32Array;
  /** `failures[n]` of the first n calls failed, so that those of any range are one subtraction. */
  failures: Uint32Array;
}

/** Recorded calls, arranged in rows. Times are in milliseconds after `base`. */
export interface Timeline {
  /** In milliseconds since the epoch. */
  base: number;
  count: number;
  ids: readonly string[];
  start: Float64Array;
  end: Float64Array;
  functionOf: Uint32Array;
  statusOf: Uint8Array;
  rowOf: Uint32Array;
  rows: readonly FlameRow[];
  /** Where each row is drawn, in pixels from the top. */
  rowTop: Float64Array;
  /** Where the label of each lane is drawn. */
  laneTop: Float64Array;
  height: number;
  functions: readonly string[];
  lanes: TimelineAnswer["lanes"];
  statuses: readonly string[];
  /** When the first call of all began, and the last one ended; these may be beyond what is here. */
  earliest: number;
  latest: number;
}

/** Arrange an answer of the server. Nothing is sorted: the server has the calls in the order of time. */
export function arrangeTimeline(answer: TimelineAnswer): Timeline {
  const count = answer.start.length;
  const start = Float64Array.from(answer.start);
  const latest = Math.max(answer.latest, start[count - 1] ?? 0);
  // What still runs is drawn to the end.
  const end = Float64Array.from(answer.duration, (duration, index) =>
    duration === null ? latest : (start[index] as number) + duration,
  );
  const { lanes, placeOf } = sortLanes(answer.lanes);
  const laneOf = Uint32Array.from(answer.lane, (lane) => placeOf[lane] as number);
  const depths = findDepthOfLanes(lanes.length, laneOf, answer.depth);
  const { laneTop, laneRow, rowTop, height } = stackLanes(depths);
  const rowOf = Uint32Array.from(
    laneOf,
    (lane, index) => (laneRow[lane] as number) + (answer.depth[index] as number),
  );
  const statusOf = Uint8Array.from(answer.status);
  const places = depths.flatMap((depth, lane) =>
    Array.from({ length: depth }, (_, row) => ({ lane, depth: row })),
  );
  return {
    base: answer.base * 1000,
    count,
    ids: answer.call_ids,
    start,
    end,
    functionOf: Uint32Array.from(answer.function),
    statusOf,
    rowOf,
    rows: fillRows(places, rowOf, statusOf, answer.statuses.indexOf("exception")),
    rowTop,
    laneTop,
    height,
    functions: answer.functions,
    lanes,
    statuses: answer.statuses,
    earliest: Math.min(answer.earliest, 0),
    latest,
  };
}

type Lanes = TimelineAnswer["lanes"];

/** Lanes by session and name, the main thread first: they stay in place as calls come and go. */
function sortLanes(lanes: Lanes): { lanes: Lanes; placeOf: Uint32Array } {
  const compare = (one: string | null, other: string | null) =>
    (one ?? "").localeCompare(other ?? "", "en", { numeric: true });
  const order = lanes
    .map((lane, index) => ({ lane, index }))
    .sort(
      ({ lane: one }, { lane: other }) =>
        compare(one.session_id, other.session_id) ||
        Number(other.thread === "MainThread") - Number(one.thread === "MainThread") ||
        compare(one.thread, other.thread) ||
        compare(one.task, other.task),
    );
  const placeOf = new Uint32Array(lanes.length);
  order.forEach(({ index }, place) => {
    placeOf[index] = place;
  });
  return { lanes: order.map(({ lane }) => lane), placeOf };
}

function findDepthOfLanes(count: number, laneOf: Uint32Array, depth: number[]): number[] {
  const depths = new Array<number>(count).fill(0);
  laneOf.forEach((lane, index) => {
    depths[lane] = Math.max(depths[lane] as number, (depth[index] as number) + 1);
  });
  return depths;
}

function stackLanes(depths: number[]) {
  const laneTop = new Float64Array(depths.length);
  const laneRow = new Uint32Array(depths.length);
  const rowTop: number[] = [];
  let top = 0;
  depths.forEach((depth, lane) => {
    laneTop[lane] = top;
    laneRow[lane] = rowTop.length;
    top += LABEL_HEIGHT;
    for (let row = 0; row < depth; row++) rowTop.push(top + row * ROW_HEIGHT);
    top += depth * ROW_HEIGHT + LANE_GAP;
  });
  return { laneTop, laneRow, rowTop: Float64Array.from(rowTop), height: top };
}

function fillRows(
  places: { lane: number; depth: number }[],
  rowOf: Uint32Array,
  statusOf: Uint8Array,
  failed: number,
): FlameRow[] {
  const sizes = new Uint32Array(places.length);
  for (const row of rowOf) sizes[row] = (sizes[row] as number) + 1;
  const rows = places.map((place, row) => ({
    ...place,
    calls: new Uint32Array(sizes[row] as number),
    failures: new Uint32Array((sizes[row] as number) + 1),
  }));
  const filled = new Uint32Array(rows.length);
  for (let call = 0; call < rowOf.length; call++) {
    const row = rowOf[call] as number;
    const at = filled[row] as number;
    const { calls, failures } = rows[row] as FlameRow;
    calls[at] = call;
    failures[at + 1] = (failures[at] as number) + (statusOf[call] === failed ? 1 : 0);
    filled[row] = at + 1;
  }
  return rows;
}

/** The first place in a row, from `low` on, at which `values[call]` is at least `least`. */
export function findInRow(row: FlameRow, values: Float64Array, least: number, low = 0): number {
  let high = row.calls.length;
  let from = low;
  while (from < high) {
    const middle = (from + high) >>> 1;
    if ((values[row.calls[middle] as number] as number) < least) from = middle + 1;
    else high = middle;
  }
  return from;
}

/** The call at a time in a row; one that ended or begins less than `slack` away counts. -1 if there is none. */
export function findCallAt(timeline: Timeline, rowIndex: number, time: number, slack: number): number {
  const row = timeline.rows[rowIndex];
  if (!row) return -1;
  const at = findInRow(row, timeline.end, time - slack);
  const call = row.calls[at];
  return call !== undefined && (timeline.start[call] as number) <= time + slack ? call : -1;
}

/** How many calls of a row begin within a span. */
export function countBegun(timeline: Timeline, rowIndex: number, from: number, to: number): number {
  const row = timeline.rows[rowIndex];
  if (!row) return 0;
  const first = findInRow(row, timeline.start, from);
  return findInRow(row, timeline.start, to, first) - first;
}

/** The row at a height, or -1 between lanes. */
export function findRowAt(timeline: Timeline, y: number): number {
  let low = 0;
  let high = timeline.rowTop.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((timeline.rowTop[middle] as number) <= y) low = middle + 1;
    else high = middle;
  }
  const row = low - 1;
  return row >= 0 && y < (timeline.rowTop[row] as number) + ROW_HEIGHT ? row : -1;
}

export type Direction = "previous" | "next" | "parent" | "child" | "previous lane" | "next lane";

/** The call beside another one; the same call where there is none in that direction. */
export function walk(timeline: Timeline, call: number, direction: Direction): number {
  const rowIndex = timeline.rowOf[call] as number;
  const row = timeline.rows[rowIndex] as FlameRow;
  const start = timeline.start[call] as number;
  const at = findPlace(row, call);
  switch (direction) {
    case "previous":
      return row.calls[at - 1] ?? call;
    case "next":
      return row.calls[at + 1] ?? call;
    case "parent":
      return row.depth ? findParent(timeline, rowIndex - 1, call) : call;
    case "child":
      return findChild(timeline, rowIndex + 1, row.lane, call, row.calls[at + 1]);
    case "previous lane":
      return findNearest(timeline, row.lane - 1, start, call);
    case "next lane":
      return findNearest(timeline, row.lane + 1, start, call);
  }
}

/** The first place in a row at which this call, or a later one, is. */
function findPlace(row: FlameRow, call: number): number {
  let low = 0;
  let high = row.calls.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((row.calls[middle] as number) < call) low = middle + 1;
    else high = middle;
  }
  return low;
}

/*
 * A lane makes one call at a time, so a call was made within the last one that began before it, one row
 * above. Ends do not tell: what a debugger does before a call runs is no part of its duration.
 */
function findParent(timeline: Timeline, rowIndex: number, call: number): number {
  const row = timeline.rows[rowIndex] as FlameRow;
  return row.calls[findPlace(row, call) - 1] ?? call;
}

function findChild(
  timeline: Timeline,
  rowIndex: number,
  lane: number,
  call: number,
  sibling: number | undefined,
): number {
  const row = timeline.rows[rowIndex];
  if (row?.lane !== lane) return call;
  const child = row.calls[findPlace(row, call)];
  return child !== undefined && child < (sibling ?? timeline.count) ? child : call;
}

/** The call at depth 0 of a lane that is nearest to a time. */
export function findNearest(timeline: Timeline, lane: number, time: number, otherwise: number): number {
  const row = timeline.rows.find((each) => each.lane === lane);
  if (!row) return otherwise;
  const at = Math.min(findInRow(row, timeline.end, time), row.calls.length - 1);
  return row.calls[at] ?? otherwise;
}
