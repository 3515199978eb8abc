import type { FlameChart, FlameElements } from "./flame-chart";
import { RULER_HEIGHT } from "./flame-drawing";
import { panSpan, type Span, widthOf, zoomSpan } from "./flame-window";

/** A pointer that moves less than this has clicked. */
const CLICK = 4;

interface PointerGesture {
  down: (event: PointerEvent) => void;
  move: (event: PointerEvent) => void;
  up: (event: PointerEvent) => void;
}

interface Point {
  x: number;
  y: number;
}

const pointIn = (element: HTMLElement, event: MouseEvent): Point => {
  const box = element.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
};

const order = (one: number, other: number): Span => ({
  from: Math.min(one, other),
  to: Math.max(one, other),
});

/** The wheel zooms where the pointer is; sideways it moves. With alt it scrolls the rows. */
function turnWheel(chart: FlameChart, canvas: HTMLCanvasElement, event: WheelEvent): void {
  if (event.altKey) return;
  event.preventDefault();
  const pixels = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
  const sideways = event.shiftKey ? event.deltaX || event.deltaY : event.deltaX;
  if (Math.abs(sideways) > Math.abs(event.shiftKey ? 0 : event.deltaY)) {
    chart.pan((sideways * pixels) / canvas.clientWidth);
  } else chart.zoom(2 ** ((-event.deltaY * pixels) / 240), chart.timeAt(pointIn(canvas, event).x));
}

/** Drag moves; on the ruler, or with shift, it marks a range to zoom to. Two fingers zoom. */
class CanvasGesture implements PointerGesture {
  private readonly pointers = new Map<number, Point>();
  private began: { point: Point; sight: Span; top: number; isMarking: boolean } | null = null;
  private pinch: { distance: number; middle: number; sight: Span } | null = null;

  constructor(
    private readonly chart: FlameChart,
    private readonly elements: FlameElements,
    private readonly onClick: (call: number) => void,
  ) {}

  readonly down = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    const { canvas, scroller } = this.elements;
    const point = pointIn(canvas, event);
    canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, point);
    if (this.pointers.size === 2) this.beginPinch();
    else {
      const isMarking = event.shiftKey || point.y < RULER_HEIGHT;
      this.began = { point, sight: this.chart.shown, top: scroller.scrollTop, isMarking };
    }
  };

  readonly move = (event: PointerEvent): void => {
    const point = pointIn(this.elements.canvas, event);
    if (!this.pointers.has(event.pointerId)) {
      if (event.pointerType === "mouse") this.chart.hover(point.x, point.y);
      return;
    }
    this.pointers.set(event.pointerId, point);
    if (this.pinch) this.goOnPinching(this.pinch);
    else if (this.began && isFar(this.began.point, point)) this.drag(this.began, point);
  };

  private drag(began: NonNullable<typeof this.began>, point: Point): void {
    if (began.isMarking) {
      this.chart.mark(order(this.chart.timeAt(began.point.x), this.chart.timeAt(point.x)));
      return;
    }
    this.chart.leave();
    const perPixel = widthOf(began.sight) / this.elements.scroller.clientWidth;
    const moved = panSpan(began.sight, (began.point.x - point.x) * perPixel, this.chart.bounds);
    if (Math.abs(began.point.x - point.x) > CLICK || this.chart.sight) this.chart.setSight(moved);
    this.elements.scroller.scrollTop = began.top + began.point.y - point.y;
  }

  readonly up = (event: PointerEvent): void => {
    const point = this.pointers.get(event.pointerId);
    this.pointers.delete(event.pointerId);
    const { began } = this;
    this.began = null;
    this.pinch = null;
    const { marked } = this.chart;
    if (marked) {
      this.chart.mark(null);
      if (event.type === "pointerup") this.chart.setSight(marked);
    } else if (began && point && event.type === "pointerup" && !isFar(began.point, point)) {
      this.onClick(this.chart.findCall(point.x, point.y));
    }
  };

  private beginPinch(): void {
    this.began = null;
    const [one, other] = this.listPoints();
    const middle = this.chart.timeAt((one.x + other.x) / 2);
    this.pinch = { distance: Math.max(20, Math.abs(one.x - other.x)), middle, sight: this.chart.shown };
  }

  private goOnPinching(pinch: NonNullable<typeof this.pinch>): void {
    const [one, other] = this.listPoints();
    const factor = Math.max(20, Math.abs(one.x - other.x)) / pinch.distance;
    this.chart.setSight(zoomSpan(pinch.sight, factor, pinch.middle, this.chart.bounds));
  }

  private listPoints(): [Point, Point] {
    return [...this.pointers.values()] as [Point, Point];
  }
}

const isFar = (one: Point, other: Point): boolean => Math.hypot(one.x - other.x, one.y - other.y) >= CLICK;

/** On the map: drag the window to move it, or mark another one; a click centres it. */
class MapGesture implements PointerGesture {
  private began: { time: number; grip: number | null } | null = null;

  constructor(
    private readonly chart: FlameChart,
    private readonly map: HTMLElement,
  ) {}

  private timeAt(event: PointerEvent): number {
    const { bounds } = this.chart;
    return bounds.from + (pointIn(this.map, event).x / this.map.clientWidth) * widthOf(bounds);
  }

  readonly down = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    this.map.setPointerCapture(event.pointerId);
    const time = this.timeAt(event);
    const { shown, sight } = this.chart;
    const isInside = sight !== null && time >= shown.from && time <= shown.to;
    this.began = { time, grip: isInside ? time - shown.from : null };
  };

  readonly move = (event: PointerEvent): void => {
    if (!this.began) return;
    const time = this.timeAt(event);
    const { shown } = this.chart;
    const from = time - (this.began.grip ?? 0);
    if (this.began.grip !== null) this.chart.setSight({ from, to: from + widthOf(shown) });
    else if (time !== this.began.time) this.chart.setSight(order(this.began.time, time));
  };

  readonly up = (event: PointerEvent): void => {
    const { began } = this;
    this.began = null;
    if (!began || began.grip !== null || this.timeAt(event) !== began.time) return;
    const half = widthOf(this.chart.shown) / 2;
    this.chart.setSight({ from: began.time - half, to: began.time + half });
  };
}

/** Let a chart follow pointers and the wheel. The result stops that. */
export function followGestures(
  chart: FlameChart,
  elements: FlameElements,
  onClick: (call: number) => void,
): () => void {
  const { canvas, map } = elements;
  const onCanvas = new CanvasGesture(chart, elements, onClick);
  const onMap = new MapGesture(chart, map.parentElement as HTMLElement);
  const end = new AbortController();
  const { signal } = end;
  const pairs: [HTMLElement, PointerGesture][] = [
    [canvas, onCanvas],
    [map.parentElement as HTMLElement, onMap],
  ];
  for (const [element, gesture] of pairs) {
    element.addEventListener("pointerdown", gesture.down, { signal });
    element.addEventListener("pointermove", gesture.move, { signal });
    element.addEventListener("pointerup", gesture.up, { signal });
    element.addEventListener("pointercancel", gesture.up, { signal });
  }
  canvas.addEventListener("pointerleave", () => chart.leave(), { signal });
  const zoomToCall = (event: MouseEvent) => {
    const point = pointIn(canvas, event);
    const call = chart.findCall(point.x, point.y);
    if (call >= 0) chart.zoomTo(call);
  };
  canvas.addEventListener("dblclick", zoomToCall, { signal });
  // A passive listener could not keep the page from scrolling.
  canvas.addEventListener("wheel", (event) => turnWheel(chart, canvas, event), { signal, passive: false });
  return () => end.abort();
}
