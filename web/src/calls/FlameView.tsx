import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useId, useMemo, useRef, useState } from "react";

import { holdsQuery, sessionsQuery } from "../api/queries";
import { useAddressValue } from "../ui/address";
import { useCommand } from "../ui/commands";
import { formatCount } from "../ui/format";
import { KeyHint, ProblemMessage, Status } from "../ui/parts";
import { CallsEmptyState } from "./CallsEmptyState";
import { FlameChart, type FlameHover } from "./flame-chart";
import { followGestures } from "./flame-gestures";
import { type LoadedCalls, useLoadedCalls } from "./flame-query";
import { useSight } from "./flame-sight";
import type { Direction, Timeline } from "./flame-timeline";
import type { Span } from "./flame-window";
import { describeAmount, describeCall, nameLanes } from "./flame-words";
import "./flame.css";

interface FlameViewProps {
  session: string;
  filter: string;
  /** Called with the id of the call that one opens. */
  onSelect: (callId: string) => void;
}

/** When and where calls ran: one lane for each thread and task, depth downwards, time to the right. */
export function FlameView({ session, filter, onSelect }: FlameViewProps) {
  const [chart, setChart] = useState<FlameChart | null>(null);
  const [range, setRange] = useState<Span | null>(null);
  const { data, error, isPending } = useLoadedCalls(session, filter, range);
  const loaded = useLastFull(data);
  const changeSight = useSight(chart, loaded, setRange);
  return (
    <div className="flame">
      <ProblemMessage problem={error} />
      {loaded?.reasons.map(({ error: reason, count }) => (
        <p key={reason} className="soft">
          No answer for {formatCount(count)}: {reason}
        </p>
      ))}
      {loaded && !loaded.timeline.count ? (
        <CallsEmptyState state={{ isLooking: false, problem: error }} />
      ) : (
        <Flame
          loaded={loaded}
          isBusy={isPending}
          hasFilter={filter !== ""}
          chart={chart}
          onChart={setChart}
          onSight={changeSight}
          onOpen={onSelect}
        />
      )}
    </div>
  );
}

export default FlameView;

/** An answer for a range without calls changes nothing: one sees that there are none. */
function useLastFull(data: LoadedCalls | undefined): LoadedCalls | undefined {
  const last = useRef<LoadedCalls | undefined>(undefined);
  if (data && (data.timeline.count || !data.range)) last.current = data;
  return last.current;
}

interface FlameProps {
  loaded: LoadedCalls | undefined;
  isBusy: boolean;
  hasFilter: boolean;
  chart: FlameChart | null;
  onChart: (chart: FlameChart | null) => void;
  onSight: ConstructorParameters<typeof FlameChart>[1]["onSight"];
  onOpen: (callId: string) => void;
}

function Flame({ loaded, isBusy, hasFilter, chart, onChart, onSight, onOpen }: FlameProps) {
  const [selected, setSelected] = useState(-1);
  const [hover, setHover] = useState<FlameHover | null>(null);
  const timeline = loaded?.timeline;
  const held = useHeldCalls(timeline);
  const laneNames = useLaneNames(timeline);
  const [opened] = useAddressValue("call");
  const helpId = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const map = useRef<HTMLCanvasElement>(null);
  const mapWindow = useRef<HTMLDivElement>(null);
  const open = useRef(onOpen);
  useEffect(() => {
    open.current = onOpen;
  });
  useEffect(() => {
    const elements = {
      canvas: canvas.current as HTMLCanvasElement,
      scroller: scroller.current as HTMLElement,
      map: map.current as HTMLCanvasElement,
      mapWindow: mapWindow.current as HTMLElement,
    };
    const made = new FlameChart(elements, { onSight, onSelect: setSelected, onHover: setHover });
    const openCall = (call: number) => {
      made.select(call);
      const id = made.timeline.ids[call];
      if (id) open.current(id);
    };
    const stop = followGestures(made, elements, openCall);
    onChart(made);
    return () => {
      stop();
      made.close();
      onChart(null);
    };
  }, [onChart, onSight]);
  useEffect(() => {
    if (!chart || !timeline) return;
    chart.show(timeline);
    if (opened && timeline.ids[chart.selected] !== opened) chart.selected = timeline.ids.lastIndexOf(opened);
    setSelected(chart.selected);
  }, [chart, timeline, opened]);
  useEffect(() => chart?.setLaneNames(laneNames), [chart, laneNames]);
  useEffect(() => chart?.setHeld(held), [chart, held]);
  useFlameCommands(chart);

  const press = (event: React.KeyboardEvent) => {
    if (!chart || event.ctrlKey || event.metaKey || event.altKey) return;
    const direction = DIRECTIONS[(event.shiftKey ? "shift+" : "") + event.key];
    const id = timeline?.ids[chart.selected];
    if (direction) chart.walk(direction);
    else if (event.key === "Home") chart.setSight(null);
    else if (event.key === "Enter" && id) onOpen(id);
    else return;
    event.preventDefault();
  };
  const amount = loaded ? describeAmount(loaded, hasFilter) : "reading…";
  return (
    <>
      <div className="flame-bar">
        <span className="soft grow cut" role="status">
          {amount}
        </span>
        <button type="button" onClick={() => chart?.zoom(ZOOM)}>
          <span aria-hidden="true">+</span>
          <span className="unseen">Zoom in</span> <KeyHint of="w" />
        </button>
        <button type="button" onClick={() => chart?.zoom(1 / ZOOM)}>
          <span aria-hidden="true">−</span>
          <span className="unseen">Zoom out</span> <KeyHint of="s" />
        </button>
        <button type="button" onClick={() => chart?.setSight(null)}>
          Fit all <KeyHint of="Home" />
        </button>
      </div>
      <div className="flame-map" aria-hidden="true">
        <canvas ref={map} />
        <div ref={mapWindow} className="flame-map-window" />
      </div>
      <div className="flame-stage">
        <div
          ref={scroller}
          className="flame-rows"
          role="application"
          aria-label={`Flame timeline, ${amount}`}
          aria-describedby={helpId}
          aria-busy={isBusy}
          tabIndex={0}
          onKeyDown={press}
        >
          <div className="flame-space" style={{ height: (timeline?.height ?? 0) + 40 }}>
            <canvas ref={canvas} />
          </div>
        </div>
        {loaded ? null : <p className="empty flame-note">Reading the calls…</p>}
        {timeline && hover ? (
          <Tooltip timeline={timeline} hover={hover} isHeld={held.has(hover.call)} />
        ) : null}
      </div>
      <SelectedCall timeline={timeline} call={selected} isHeld={held.has(selected)} />
      <p id={helpId} className="unseen">
        The list and the tree show the same calls as text. W and S zoom, A and D move, left and right arrow go
        to the call before and after, up and down to the caller and to the first call made within, shift with
        up and down to another thread, Enter opens the call, Z zooms to it, Home fits all.
      </p>
    </>
  );
}

const ZOOM = 1.5;
const DIRECTIONS: Record<string, Direction> = {
  ArrowLeft: "previous",
  ArrowRight: "next",
  ArrowUp: "parent",
  ArrowDown: "child",
  "shift+ArrowUp": "previous lane",
  "shift+ArrowDown": "next lane",
};

function useFlameCommands(chart: FlameChart | null): void {
  useCommand("Timeline: zoom in", "w", () => chart?.zoom(ZOOM));
  useCommand("Timeline: zoom out", "s", () => chart?.zoom(1 / ZOOM));
  useCommand("Timeline: earlier", "a", () => chart?.pan(-0.2));
  useCommand("Timeline: later", "d", () => chart?.pan(0.2));
  useCommand("Timeline: fit all", undefined, () => chart?.setSight(null));
  useCommand("Timeline: zoom to the selected call", "z", () => {
    if (chart && chart.selected >= 0) chart.zoomTo(chart.selected);
  });
}

function useHeldCalls(timeline: Timeline | undefined): ReadonlySet<number> {
  const holds = useQuery(holdsQuery).data?.holds;
  return useMemo(() => {
    const ids = (holds ?? []).flatMap((hold) => (hold.kind === "calls" ? [hold.call_id] : []));
    return new Set(ids.map((id) => timeline?.ids.lastIndexOf(id) ?? -1).filter((call) => call >= 0));
  }, [holds, timeline]);
}

function useLaneNames(timeline: Timeline | undefined): string[] {
  const sessions = useQuery(sessionsQuery).data?.sessions;
  const nameSession = useCallback(
    (id: string) => sessions?.find((session) => session.session_id === id)?.name ?? id,
    [sessions],
  );
  return useMemo(() => nameLanes(timeline?.lanes ?? [], nameSession), [timeline, nameSession]);
}

function Tooltip({ timeline, hover, isHeld }: { timeline: Timeline; hover: FlameHover; isHeld: boolean }) {
  const { name, duration, status, clock } = describeCall(timeline, hover.call, isHeld);
  const style = { "--x": `${hover.x}px`, "--y": `${hover.y}px` } as React.CSSProperties;
  return (
    <div
      className={`flame-tip ${hover.isRight ? "right" : ""} ${hover.isLow ? "low" : ""}`}
      style={style}
      aria-hidden="true"
    >
      <strong className="mono">{name}</strong>
      <div>
        {duration} · {status} · {clock}
      </div>
      {hover.others > 0 ? (
        <div className="soft">and {formatCount(hover.others)} more at this pixel</div>
      ) : null}
    </div>
  );
}

interface SelectedCallProps {
  timeline: Timeline | undefined;
  call: number;
  isHeld: boolean;
}

/** What the selected call is, in words that a screen reader says as one walks. */
function SelectedCall({ timeline, call, isHeld }: SelectedCallProps) {
  const isThere = timeline && call >= 0 && call < timeline.count;
  const { name, duration, status, clock, depth } = isThere
    ? describeCall(timeline, call, isHeld)
    : { name: "", duration: "", status: "", clock: "", depth: 0 };
  return (
    <div className="flame-selected" role="status" aria-label="Selected call">
      {isThere ? (
        <>
          <span className="mono cut">{name}</span>
          <Status of={status} />
          <span className="soft cut">
            {duration} · began {clock} · depth {depth}
            <span className="wide-only">
              {" "}
              · <kbd>Enter</kbd> opens it
            </span>
          </span>
        </>
      ) : (
        <span className="soft">
          Drag to move, turn the wheel to zoom, drag on the ruler to zoom to a range; arrow keys walk the
          calls.
        </span>
      )}
    </div>
  );
}
