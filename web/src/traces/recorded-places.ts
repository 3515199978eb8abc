import { baseName } from "../ui/format";
import type { RecordedCall, TraceCall } from "./trace-queries";

export interface Place {
  file: string;
  line: number;
}

/** The files that a recording has calls of. */
export const listFiles = (calls: readonly RecordedCall[], shown?: TraceCall): string[] => [
  ...new Set([...(shown ? [shown.file] : []), ...calls.map((call) => call.file)]),
];

/** `/shop/orders.py:12` as one says it: `orders.py:12`, if only one of the files is called so. */
export function shortenPlace(place: string, files: readonly string[]): string {
  const short = baseName(place);
  return expandPlace(short, files) === place ? short : place;
}

/** What somebody means by `orders.py:12`, or by `12` alone: that line of the first file. */
export function expandPlace(text: string, files: readonly string[]): string {
  const [, name = "", line] = /^(?:(.*):)?(\d+)$/.exec(text.trim()) ?? [];
  if (line === undefined) return text.trim();
  const meant = name ? files.filter((file) => file === name || file.endsWith(`/${name}`)) : files.slice(0, 1);
  return meant.length === 1 ? `${meant[0]}:${line}` : text.trim();
}

/** A place as the server reads it. */
export const writePlace = ({ file, line }: Place): string => `${file}:${line}`;

/** The name of a function without its module. */
export const shortName = (name: string, file: string): string => {
  const module = `${baseName(file).replace(/\.pyw?$/, "")}.`;
  return name.startsWith(module) ? name.slice(module.length) : name;
};
