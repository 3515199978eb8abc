import { type FlameRow, findInRow, type Timeline } from "./flame-timeline";
import { type Span, widthOf } from "./flame-window";

/** What to draw of the rows in sight. A box is a call, or all calls that begin in the same pixel. */
export class FlameBoxes {
  count = 0;
  call = new Uint32Array(4096);
  row = new Uint32Array(4096);
  x = new Float32Array(4096);
  width = new Float32Array(4096);
  /** Whether one of its calls failed. */
  failed = new Uint8Array(4096);

  add(call: number, row: number, x: number, width: number, failed: boolean): void {
    if (this.count === this.call.length) this.grow();
    const at = this.count++;
    this.call[at] = call;
    this.row[at] = row;
    this.x[at] = x;
    this.width[at] = width;
    this.failed[at] = failed ? 1 : 0;
  }

  private grow(): void {
    const size = this.call.length * 2;
    const copy = <T extends { set(from: T): void }>(to: T, from: T): T => {
      to.set(from);
      return to;
    };
    this.call = copy(new Uint32Array(size), this.call);
    this.row = copy(new Uint32Array(size), this.row);
    this.x = copy(new Float32Array(size), this.x);
    this.width = copy(new Float32Array(size), this.width);
    this.failed = copy(new Uint8Array(size), this.failed);
  }
}

/**
 * Find what is in sight of some rows. The effort depends on the pixels and not on the calls: a call that
 * is narrower than a pixel stands for all that begin in this pixel, and the next one is found by a search.
 */
export function layOutBoxes(
  timeline: Timeline,
  sight: Span,
  pixels: number,
  firstRow: number,
  lastRow: number,
  boxes: FlameBoxes,
): void {
  boxes.count = 0;
  for (let row = firstRow; row <= lastRow; row++) layOutRow(timeline, sight, pixels, row, boxes);
}

function layOutRow(
  timeline: Timeline,
  sight: Span,
  pixels: number,
  rowIndex: number,
  boxes: FlameBoxes,
): void {
  const row = timeline.rows[rowIndex] as FlameRow;
  const { start, end } = timeline;
  const { calls, failures } = row;
  const scale = pixels / widthOf(sight);
  let at = findInRow(row, end, sight.from);
  while (at < calls.length) {
    const call = calls[at] as number;
    const begins = start[call] as number;
    if (begins > sight.to) return;
    const x = (begins - sight.from) * scale;
    const width = ((end[call] as number) - begins) * scale;
    let next = at + 1;
    if (width >= 1) boxes.add(call, rowIndex, x, width, failures[next] !== failures[at]);
    else {
      const pixel = Math.floor(x);
      next = findInRow(row, start, sight.from + (pixel + 1) / scale, next);
      boxes.add(call, rowIndex, pixel, 1, failures[next] !== failures[at]);
    }
    at = next;
  }
}

/** How many calls begin in each pixel of a map of everything, and in which pixels one failed. */
export function countByPixel(
  timeline: Timeline,
  bounds: Span,
  pixels: number,
): { calls: Uint32Array; failed: Uint8Array } {
  const calls = new Uint32Array(pixels);
  const failed = new Uint8Array(pixels);
  const scale = pixels / widthOf(bounds);
  const failure = timeline.statuses.indexOf("exception");
  for (let call = 0; call < timeline.count; call++) {
    const pixel = Math.floor(((timeline.start[call] as number) - bounds.from) * scale);
    if (pixel < 0 || pixel >= pixels) continue;
    calls[pixel] = (calls[pixel] as number) + 1;
    if (timeline.statusOf[call] === failure) failed[pixel] = 1;
  }
  return { calls, failed };
}
