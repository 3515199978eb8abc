import { FlameBoxes, layOutBoxes } from "./flame-boxes";
import { drawMap, drawScene, RULER_HEIGHT } from "./flame-drawing";
import { chooseHues, type Palette, readPalette } from "./flame-palette";
import {
  arrangeTimeline,
  countBegun,
  type Direction,
  findCallAt,
  findNearest,
  findRowAt,
  ROW_HEIGHT,
  type Timeline,
  type TimelineAnswer,
  walk,
} from "./flame-timeline";
import { clampSpan, fitBounds, panSpan, revealSpan, type Span, widthOf, zoomSpan } from "./flame-window";

/** The elements of a chart. */
export interface FlameElements {
  canvas: HTMLCanvasElement;
  /** What the rows scroll in. The canvas sticks to its top. */
  scroller: HTMLElement;
  map: HTMLCanvasElement;
  /** The part of the map that is in sight. */
  mapWindow: HTMLElement;
}

/** What a chart tells of. */
export interface FlameListeners {
  /** Another span is in sight; null is everything. */
  onSight: (sight: Span | null) => void;
  onSelect: (call: number) => void;
  /** The pointer is over a call, with `others` that begin at the same pixel. */
  onHover: (hover: FlameHover | null) => void;
}

export interface FlameHover {
  call: number;
  others: number;
  x: number;
  y: number;
  /** Whether there is more room to the left of it, and above it. */
  isRight: boolean;
  isLow: boolean;
}

const EMPTY = arrangeTimeline({
  base: 0, call_ids: [], start: [], duration: [], function: [], lane: [], depth: [], status: [], functions: [],
  lanes: [], statuses: [], total: 0, cut: false, earliest: 0, latest: 0, looked_at: 0, undecided: 0,
} satisfies TimelineAnswer); // biome-ignore format: one glance

/** What is drawn, and from where. It draws at most once a frame, without React. */
export class FlameChart {
  timeline: Timeline = EMPTY;
  /** Null while everything is in sight, so that it stays so as calls arrive. */
  sight: Span | null = null;
  selected = -1;
  marked: Span | null = null;
  private hues: Uint8Array = new Uint8Array();
  private held: ReadonlySet<number> = new Set();
  private laneNames: readonly string[] = [];
  private palette: Palette;
  private frame = 0;
  private hovered = -1;
  private isMapStale = true;
  private readonly boxes = new FlameBoxes();
  private readonly stopWatching: () => void;

  constructor(
    private readonly elements: FlameElements,
    private readonly listeners: FlameListeners,
  ) {
    this.palette = readPalette(elements.scroller);
    this.stopWatching = this.watchSurroundings();
  }

  close(): void {
    cancelAnimationFrame(this.frame);
    this.stopWatching();
  }

  /** Follow the size of the chart and the theme. */
  private watchSurroundings(): () => void {
    const redraw = () => {
      this.isMapStale = true;
      this.draw();
    };
    const recolor = () => {
      this.palette = readPalette(this.elements.scroller);
      redraw();
    };
    const sizes = new ResizeObserver(redraw);
    sizes.observe(this.elements.scroller);
    sizes.observe(this.elements.map);
    const themes = new MutationObserver(recolor);
    themes.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", recolor);
    const scroll = () => this.draw();
    this.elements.scroller.addEventListener("scroll", scroll, { passive: true });
    return () => {
      sizes.disconnect();
      themes.disconnect();
      scheme.removeEventListener("change", recolor);
      this.elements.scroller.removeEventListener("scroll", scroll);
    };
  }

  // -- what is shown --------------------------------------------------------------------------

  /** Show other calls. What is in sight and what is selected stay, by time and by id. */
  show(timeline: Timeline): void {
    const id = this.timeline.ids[this.selected];
    const shift = this.timeline.base - timeline.base;
    if (this.sight && this.timeline.count)
      this.sight = { from: this.sight.from + shift, to: this.sight.to + shift };
    this.timeline = timeline;
    this.hues = chooseHues(timeline.functions);
    this.selected = id === undefined ? -1 : timeline.ids.lastIndexOf(id);
    this.isMapStale = true;
    if (this.hovered >= 0) this.leave();
    this.draw();
  }

  setLaneNames(names: readonly string[]): void {
    this.laneNames = names;
    this.draw();
  }

  setHeld(held: ReadonlySet<number>): void {
    this.held = held;
    this.draw();
  }

  setSight(sight: Span | null): void {
    this.sight = sight && clampSpan(sight, this.bounds);
    this.listeners.onSight(this.sight);
    this.draw();
  }

  mark(span: Span | null): void {
    this.marked = span;
    this.draw();
  }

  /** All calls of the session, those that are not loaded among them. */
  get bounds(): Span {
    return fitBounds(this.timeline.earliest, this.timeline.latest);
  }

  /** The calls that are loaded: what one sees at first. */
  get loaded(): Span {
    const { count, start, latest } = this.timeline;
    return count ? fitBounds(start[0] as number, latest) : this.bounds;
  }

  get shown(): Span {
    return this.sight ?? this.loaded;
  }

  // -- drawing --------------------------------------------------------------------------------

  draw(): void {
    if (!this.frame) this.frame = requestAnimationFrame(() => this.drawNow());
  }

  private drawNow(): void {
    this.frame = 0;
    const { canvas, scroller, map } = this.elements;
    const width = scroller.clientWidth;
    const height = scroller.clientHeight;
    const context = prepare(canvas, width, height);
    if (!context || !width || !height) return;
    const top = scroller.scrollTop;
    const [first, last] = this.listRowsInSight(top, height);
    layOutBoxes(this.timeline, this.shown, width, first, last, this.boxes);
    const { timeline, palette, hues, laneNames, held, selected, marked } = this;
    const scene = {
      timeline,
      sight: this.shown,
      width,
      height,
      top,
      palette,
      hues,
      laneNames,
      held,
      selected,
      marked,
    };
    drawScene(context, scene, this.boxes);
    if (this.isMapStale) this.drawMapNow(map);
    this.placeMapWindow();
  }

  private listRowsInSight(top: number, height: number): [number, number] {
    const { rowTop } = this.timeline;
    const first = findFirst(rowTop, top - ROW_HEIGHT);
    return [first, findFirst(rowTop, top + height - RULER_HEIGHT) - 1];
  }

  private drawMapNow(map: HTMLCanvasElement): void {
    this.isMapStale = false;
    const { clientWidth, clientHeight } = map;
    const context = prepare(map, clientWidth, clientHeight);
    if (context && clientWidth)
      drawMap(context, this.timeline, this.bounds, clientWidth, clientHeight, this.palette);
  }

  private placeMapWindow(): void {
    const { style } = this.elements.mapWindow;
    const width = widthOf(this.bounds);
    style.left = `${((this.shown.from - this.bounds.from) / width) * 100}%`;
    style.width = `${(widthOf(this.shown) / width) * 100}%`;
  }

  // -- moving ---------------------------------------------------------------------------------

  zoom(factor: number, at = (this.shown.from + this.shown.to) / 2): void {
    this.setSight(zoomSpan(this.shown, factor, at, this.bounds));
  }

  /** Move by a part of what is in sight. */
  pan(share: number): void {
    this.setSight(panSpan(this.shown, widthOf(this.shown) * share, this.bounds));
  }

  /** Zoom to the call, so that it takes most of the width. */
  zoomTo(call: number): void {
    const { from, to } = this.spanOf(call);
    const room = Math.max((to - from) * 0.1, 0.005);
    this.setSight({ from: from - room, to: to + room });
  }

  timeAt(x: number): number {
    return this.shown.from + (x / Math.max(1, this.elements.scroller.clientWidth)) * widthOf(this.shown);
  }

  private spanOf(call: number): Span {
    return { from: this.timeline.start[call] as number, to: this.timeline.end[call] as number };
  }

  // -- calls ----------------------------------------------------------------------------------

  select(call: number): void {
    if (call < 0) return;
    this.selected = call;
    this.reveal(call);
    this.listeners.onSelect(call);
    this.draw();
  }

  /** Go from the selected call to one beside it; from none, to the first one in sight. */
  walk(direction: Direction): void {
    if (!this.timeline.count) return;
    if (this.selected >= 0) this.select(walk(this.timeline, this.selected, direction));
    else this.select(findNearest(this.timeline, this.timeline.rows[0]?.lane ?? 0, this.shown.from, 0));
  }

  private reveal(call: number): void {
    const { shown } = this;
    const moved = revealSpan(shown, this.spanOf(call), this.bounds);
    if (moved !== shown && this.sight) this.setSight(moved);
    const { scroller } = this.elements;
    const y = this.timeline.rowTop[this.timeline.rowOf[call] as number] as number;
    const room = scroller.clientHeight - RULER_HEIGHT - ROW_HEIGHT;
    if (y < scroller.scrollTop + ROW_HEIGHT) scroller.scrollTop = y - 2 * ROW_HEIGHT;
    else if (y > scroller.scrollTop + room) scroller.scrollTop = y - room + ROW_HEIGHT;
  }

  /** The call at a point of the canvas, or -1. */
  findCall(x: number, y: number): number {
    const row = findRowAt(this.timeline, y - RULER_HEIGHT + this.elements.scroller.scrollTop);
    const pixel = widthOf(this.shown) / Math.max(1, this.elements.scroller.clientWidth);
    return y < RULER_HEIGHT ? -1 : findCallAt(this.timeline, row, this.timeAt(x), 2 * pixel);
  }

  hover(x: number, y: number): void {
    const call = this.findCall(x, y);
    if (call < 0 && this.hovered < 0) return;
    this.hovered = call;
    const { clientWidth, clientHeight } = this.elements.scroller;
    const place = { x, y, isRight: x > clientWidth / 2, isLow: y > clientHeight / 2 };
    this.listeners.onHover(call < 0 ? null : { call, others: this.countOthers(call), ...place });
  }

  leave(): void {
    this.hovered = -1;
    this.listeners.onHover(null);
  }

  /** How many calls are drawn as one with this one. */
  private countOthers(call: number): number {
    const pixel = widthOf(this.shown) / Math.max(1, this.elements.scroller.clientWidth);
    const { from, to } = this.spanOf(call);
    if (to - from >= pixel) return 0;
    const begin = this.shown.from + Math.floor((from - this.shown.from) / pixel) * pixel;
    return countBegun(this.timeline, this.timeline.rowOf[call] as number, begin, begin + pixel) - 1;
  }
}

function findFirst(values: Float64Array, least: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((values[middle] as number) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Give a canvas as many pixels as the screen has for it. */
function prepare(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D | null {
  const ratio = devicePixelRatio || 1;
  const [wide, tall] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide || canvas.height !== tall) [canvas.width, canvas.height] = [wide, tall];
  const context = canvas.getContext("2d", { alpha: false });
  context?.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}
