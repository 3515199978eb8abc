/** The time of day in an ISO 8601 time, to the millisecond. */
export const formatClock = (iso: string | null | undefined): string => {
  if (!iso) return "";
  const date = new Date(iso);
  const pad = (value: number, size = 2) => String(value).padStart(size, "0");
  return `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}.${pad(date.getMilliseconds(), 3)}`;
};

/** A duration, in the unit in which it has few digits. */
export function formatDuration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return "";
  if (ms < 0.001) return "0 ms";
  if (ms < 1) return `${Number((ms * 1000).toPrecision(3))} µs`;
  if (ms < 1000) return `${Number(ms.toPrecision(3))} ms`;
  if (ms < 60_000) return `${Number((ms / 1000).toPrecision(3))} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

/** A whole number with separators. */
export const formatCount = (count: number): string => count.toLocaleString("en");

/** The last part of a path. */
export const baseName = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** A place in a file, as `orders.py:33`. */
export const formatPlace = (place: { file: string; line: number } | null | undefined): string =>
  place ? `${baseName(place.file)}:${place.line}` : "";
