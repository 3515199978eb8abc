/** A span of time in milliseconds. */
export interface Span {
  from: number;
  to: number;
}

/** Ten microseconds: calls are recorded to the microsecond. */
const NARROWEST = 0.01;

export const widthOf = (span: Span): number => span.to - span.from;

/** A span of at least the least width, within the bounds if it fits into them. */
export function clampSpan(span: Span, bounds: Span): Span {
  const width = Math.min(Math.max(widthOf(span), NARROWEST), Math.max(widthOf(bounds), NARROWEST));
  const from = Math.max(bounds.from, Math.min(span.from, bounds.to - width));
  return { from, to: from + width };
}

/** Zoom in (a factor above 1) or out, so that `at` stays where it is. */
export function zoomSpan(span: Span, factor: number, at: number, bounds: Span): Span {
  const width = Math.min(Math.max(widthOf(span) / factor, NARROWEST), Math.max(widthOf(bounds), NARROWEST));
  const share = (at - span.from) / widthOf(span);
  return clampSpan({ from: at - share * width, to: at + (1 - share) * width }, bounds);
}

export function panSpan(span: Span, by: number, bounds: Span): Span {
  return clampSpan({ from: span.from + by, to: span.to + by }, bounds);
}

/** Move a span as little as possible so that it shows a call, or its beginning if it is too long for that. */
export function revealSpan(span: Span, call: Span, bounds: Span): Span {
  const margin = widthOf(span) * 0.05;
  if (call.from < span.from) return panSpan(span, call.from - margin - span.from, bounds);
  const wanted = Math.min(call.to + margin, call.from - margin + widthOf(span));
  return wanted > span.to ? panSpan(span, wanted - span.to, bounds) : span;
}

/** All there is, with a little room so that the last call is not at the edge. */
export function fitBounds(earliest: number, latest: number): Span {
  const room = Math.max((latest - earliest) * 0.01, NARROWEST);
  return { from: earliest - room, to: latest + room };
}

/** Distances between marks of the ruler are 1, 2 or 5 times a power of ten. */
export function listTicks(span: Span, pixels: number, leastPixels = 90): { step: number; times: number[] } {
  const least = (widthOf(span) / pixels) * leastPixels;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = ([1, 2, 5, 10].find((each) => each * power >= least) ?? 10) * power;
  const times: number[] = [];
  for (let number = Math.ceil(span.from / step); number * step <= span.to; number++)
    times.push(number * step);
  return { step, times };
}

/** A time on the ruler: in the unit of the farthest one, with as many digits as the step needs. */
export function formatTick(time: number, step: number, farthest: number): string {
  const [unit, size] = farthest >= 10_000 ? ["s", 1000] : farthest >= 10 ? ["ms", 1] : ["µs", 0.001];
  const digits = Math.max(0, -Math.floor(Math.log10(step / size) + 1e-9));
  return `${(time / size).toFixed(digits)} ${unit}`;
}

/** A span as the address has it: milliseconds since the epoch, to the microsecond. */
export const writeSpan = (span: Span, base: number): { from: string; to: string } => ({
  from: (base + span.from).toFixed(3),
  to: (base + span.to).toFixed(3),
});

/** The span of an address, or null if there is none. */
export function readSpan(from: string, to: string, base: number): Span | null {
  const span = { from: Number.parseFloat(from) - base, to: Number.parseFloat(to) - base };
  return span.to > span.from ? span : null; // no text is NaN, which is not greater
}

/** What was loaded: the range that was asked for (null is the newest of all), and what came of it. */
export interface LoadedRange {
  range: Span | null;
  /** When the first and the last call begin and end that came. */
  begins: number;
  ends: number;
  /** Whether older calls of the range did not fit into the answer. */
  isCut: boolean;
}

/**
 * The range to ask the server for: the one that is loaded as long as it has what is in sight, otherwise
 * what is in sight and as much again on both sides.
 */
export function chooseRange(sight: Span | null, loaded: LoadedRange): Span | null {
  const { range, begins, isCut } = loaded;
  if (!sight) return null;
  const from = isCut ? begins : (range?.from ?? Number.NEGATIVE_INFINITY);
  const isRightLoaded = !range || sight.to <= range.to;
  if (isRightLoaded && sight.from >= from) return range;
  const next = { from: sight.from - widthOf(sight), to: sight.to + widthOf(sight) };
  // The newest calls of a range come: with the same end, these would be the same ones again.
  return isRightLoaded && isCut && next.to >= (range?.to ?? loaded.ends) ? range : next;
}
