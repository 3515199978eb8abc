import type { Schemas } from "../api/client";

export type OutputEntry = Schemas["OutputEntry"];

/** What a program wrote, as far as it was read. */
export interface OutputSoFar {
  entries: OutputEntry[];
  /** Where the next answer goes on. */
  cursor: string;
  /** How many entries the server had forgotten before they were read. */
  dropped: number;
  /** How many entries were read, and then forgotten here. */
  left: number;
}

export const emptyOutput: OutputSoFar = { entries: [], cursor: "0", dropped: 0, left: 0 };
const KEPT = 20_000;

/** What was read, with one more page. The oldest entries go when there are too many. */
export function addOutput(before: OutputSoFar, page: Schemas["OutputPage"]): OutputSoFar {
  const known = Number(before.cursor);
  const fresh = page.outputs.filter((entry) => (entry.seq ?? 0) > known);
  const all = fresh.length ? [...before.entries, ...fresh] : before.entries;
  const surplus = Math.max(0, all.length - KEPT);
  return {
    entries: surplus ? all.slice(surplus) : all,
    cursor: page.cursor,
    dropped: before.dropped + page.dropped,
    left: before.left + surplus,
  };
}

/** What is left when all of it was cleared. */
export const clearOutput = (cursor: string): OutputSoFar => ({ ...emptyOutput, cursor });
