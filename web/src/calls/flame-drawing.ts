import type { FlameBoxes } from "./flame-boxes";
import { countByPixel } from "./flame-boxes";
import type { Palette } from "./flame-palette";
import { ROW_HEIGHT, type Timeline } from "./flame-timeline";
import { formatTick, listTicks, type Span, widthOf } from "./flame-window";

export const RULER_HEIGHT = 24;
const BOX_HEIGHT = ROW_HEIGHT - 2;
const LEAST_TEXT = 26;
const PADDING = 4;

/** Everything that a picture depends on. */
export interface FlameScene {
  timeline: Timeline;
  sight: Span;
  width: number;
  height: number;
  /** How far the rows are scrolled. */
  top: number;
  palette: Palette;
  /** The hue of each function. */
  hues: Uint8Array;
  laneNames: readonly string[];
  /** The calls that wait for a decision. */
  held: ReadonlySet<number>;
  selected: number;
  /** The range that is being marked. */
  marked: Span | null;
}

export function drawScene(context: CanvasRenderingContext2D, scene: FlameScene, boxes: FlameBoxes): void {
  const { width, height, palette } = scene;
  context.fillStyle = palette.back;
  context.fillRect(0, 0, width, height);
  drawLanes(context, scene);
  drawBoxes(context, scene, boxes);
  drawTexts(context, scene, boxes);
  for (const call of scene.held) drawMark(context, scene, call, palette.held, 2);
  if (scene.selected >= 0) drawMark(context, scene, scene.selected, palette.focus, 3);
  if (scene.timeline.count) drawRuler(context, scene);
  if (scene.marked) drawMarked(context, scene, scene.marked);
}

const topOf = (scene: FlameScene, row: number): number =>
  RULER_HEIGHT + (scene.timeline.rowTop[row] as number) - scene.top;

function drawLanes(context: CanvasRenderingContext2D, scene: FlameScene): void {
  const { palette, timeline } = scene;
  context.font = `600 11px ${FONT}`;
  context.textBaseline = "middle";
  timeline.laneTop.forEach((laneTop, lane) => {
    const y = RULER_HEIGHT + laneTop - scene.top;
    if (y > scene.height || y < -20) return;
    context.fillStyle = palette.line;
    context.fillRect(0, y, scene.width, 1);
    context.fillStyle = palette.soft;
    context.fillText(scene.laneNames[lane] ?? "", PADDING, y + 11);
  });
}

const FONT = 'ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", monospace';

function chooseFill(scene: FlameScene, call: number, failed: boolean): string {
  const { palette, timeline } = scene;
  if (failed) return palette.failed;
  if (scene.held.has(call)) return palette.held;
  if (timeline.statuses[timeline.statusOf[call] as number] === "lost") return palette.lost;
  return palette.hues[scene.hues[timeline.functionOf[call] as number] as number] as string;
}

function drawBoxes(context: CanvasRenderingContext2D, scene: FlameScene, boxes: FlameBoxes): void {
  let fill = "";
  for (let at = 0; at < boxes.count; at++) {
    const next = chooseFill(scene, boxes.call[at] as number, boxes.failed[at] === 1);
    if (next !== fill) {
      fill = next;
      context.fillStyle = fill;
    }
    const x = Math.max(boxes.x[at] as number, 0);
    const right = Math.min((boxes.x[at] as number) + (boxes.width[at] as number), scene.width);
    // A gap between neighbours, where there is room for one.
    const gap = right - x > 3 ? 1 : 0;
    context.fillRect(x, topOf(scene, boxes.row[at] as number), right - x - gap, BOX_HEIGHT);
  }
}

const SIGNS: Record<string, string> = { exception: "✗ ", running: "… ", lost: "? " };

function drawTexts(context: CanvasRenderingContext2D, scene: FlameScene, boxes: FlameBoxes): void {
  const { timeline } = scene;
  context.font = `11px ${FONT}`;
  context.fillStyle = scene.palette.boxText;
  const letter = context.measureText("m").width;
  for (let at = 0; at < boxes.count; at++) {
    const x = Math.max(boxes.x[at] as number, 0);
    const room =
      Math.min((boxes.x[at] as number) + (boxes.width[at] as number), scene.width) - x - 2 * PADDING;
    if (room < LEAST_TEXT) continue;
    const call = boxes.call[at] as number;
    const sign = scene.held.has(call)
      ? "⏸ "
      : (SIGNS[timeline.statuses[timeline.statusOf[call] as number] ?? ""] ?? "");
    const text = sign + timeline.functions[timeline.functionOf[call] as number];
    const letters = Math.floor(room / letter);
    const shown = text.length > letters ? `${text.slice(0, letters - 1)}…` : text;
    context.fillText(shown, x + PADDING, topOf(scene, boxes.row[at] as number) + BOX_HEIGHT / 2 + 0.5);
  }
}

/** An outline around a call, wide enough to be seen however short the call is. */
function drawMark(
  context: CanvasRenderingContext2D,
  scene: FlameScene,
  call: number,
  color: string,
  line: number,
): void {
  const { timeline, sight, width } = scene;
  const scale = width / widthOf(sight);
  const x = ((timeline.start[call] as number) - sight.from) * scale;
  const right = Math.max(((timeline.end[call] as number) - sight.from) * scale, x + 4);
  if (right < 0 || x > width) return;
  const y = topOf(scene, timeline.rowOf[call] as number);
  context.strokeStyle = color;
  context.lineWidth = line;
  context.strokeRect(
    Math.max(x, -9) - 1,
    y - 1,
    Math.min(right, width + 9) - Math.max(x, -9) + 1,
    BOX_HEIGHT + 2,
  );
}

function drawRuler(context: CanvasRenderingContext2D, scene: FlameScene): void {
  const { palette, sight, timeline, width } = scene;
  context.fillStyle = palette.band;
  context.fillRect(0, 0, width, RULER_HEIGHT);
  // Times on the ruler are after the first call, whichever calls are loaded.
  const [begin, end] = [sight.from - timeline.earliest, sight.to - timeline.earliest];
  const { step, times } = listTicks({ from: begin, to: end }, width);
  context.font = `11px ${FONT}`;
  for (const time of times) {
    const x = Math.round(((time - begin) / widthOf(sight)) * width);
    context.fillStyle = palette.line;
    context.fillRect(x, 0, 1, RULER_HEIGHT);
    context.fillStyle = palette.soft;
    context.fillText(
      formatTick(time, step, Math.max(Math.abs(begin), Math.abs(end))),
      x + PADDING,
      RULER_HEIGHT / 2,
    );
  }
}

function drawMarked(context: CanvasRenderingContext2D, scene: FlameScene, marked: Span): void {
  const { sight, width, height, palette } = scene;
  const toX = (time: number) => ((time - sight.from) / widthOf(sight)) * width;
  context.globalAlpha = 0.25;
  context.fillStyle = palette.focus;
  context.fillRect(toX(marked.from), 0, toX(marked.to) - toX(marked.from), height);
  context.globalAlpha = 1;
}

/** The map: how many calls began when, and where one failed. */
export function drawMap(
  context: CanvasRenderingContext2D,
  timeline: Timeline,
  bounds: Span,
  width: number,
  height: number,
  palette: Palette,
): void {
  context.fillStyle = palette.band;
  context.fillRect(0, 0, width, height);
  const { calls, failed } = countByPixel(timeline, bounds, Math.max(1, Math.floor(width)));
  const most = calls.reduce((most, count) => Math.max(most, count), 1);
  calls.forEach((count, pixel) => {
    if (!count) return;
    const tall = Math.max(2, Math.sqrt(count / most) * (height - 4)); // a root, so that few are seen beside many
    context.fillStyle = failed[pixel] ? palette.failed : palette.soft;
    context.fillRect(pixel, height - tall, 1, tall);
  });
}
