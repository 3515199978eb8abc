import { useCallback, useEffect, useRef } from "react";

import { useAddressChange, useAddressValue } from "../ui/address";
import type { FlameChart } from "./flame-chart";
import type { LoadedCalls } from "./flame-query";
import { chooseRange, readSpan, type Span, writeSpan } from "./flame-window";

/** After so long without a change the address is set: a browser allows some 200 changes in 30 s. */
const SETTLED = 300;

/**
 * Keeps what is in sight in the address, as milliseconds since the epoch, and chooses which range of
 * calls must be loaded for it. The result is to be called whenever something else is in sight.
 */
export function useSight(
  chart: FlameChart | null,
  loaded: LoadedCalls | undefined,
  onRange: (range: Span | null) => void,
): () => void {
  const [from] = useAddressValue("from");
  const [to] = useAddressValue("to");
  const changeAddress = useAddressChange();
  /** What is in the address and in sight. Anything else in the address came from elsewhere. */
  const agreed = useRef<{ chart: FlameChart | null; from: string; to: string } | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);

  const settle = () => {
    timer.current = null;
    if (!chart || !loaded) return;
    const next = chart.sight ? writeSpan(chart.sight, chart.timeline.base) : { from: "", to: "" };
    agreed.current = { chart, ...next };
    if (next.from !== from || next.to !== to) changeAddress(next);
    onRange(chooseLoaded(chart, loaded));
  };
  const latest = useRef(settle);
  useEffect(() => {
    latest.current = settle;
  });
  const change = useCallback(() => {
    if (timer.current !== null) clearTimeout(timer.current);
    timer.current = setTimeout(() => latest.current(), SETTLED);
  }, []);

  // By now the chart shows what was loaded: effects of its component came before.
  useEffect(() => {
    if (!chart || !loaded) return;
    const known = agreed.current;
    if (known?.chart === chart && known.from === from && known.to === to) return;
    agreed.current = { chart, from, to };
    chart.setSight(readSpan(from, to, chart.timeline.base));
  }, [chart, loaded, from, to]);

  useEffect(
    () => () => {
      if (timer.current !== null) clearTimeout(timer.current);
    },
    [],
  );
  return change;
}

function chooseLoaded(chart: FlameChart, { range, isCut }: LoadedCalls): Span | null {
  const { base, start, latest } = chart.timeline;
  const sight = chart.sight && { from: chart.sight.from + base, to: chart.sight.to + base };
  return chooseRange(sight, { range, isCut, begins: base + (start[0] ?? 0), ends: base + latest });
}
