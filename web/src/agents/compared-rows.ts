import type { Schemas } from "../api/client";

export type StepPair = Schemas["StepPair"];

/** A row of a comparison: a pair that is shown, or some that are the same and folded into one line. */
export type ComparedRow =
  | { kind: "pair"; key: string; pair: StepPair }
  | { kind: "same"; key: string; pairs: StepPair[]; isOpen: boolean };

/** Fold pairs that are the same, side by side, into one row. Some were unfolded by somebody. */
export function foldPairs(pairs: StepPair[], opened: ReadonlySet<string>): ComparedRow[] {
  const rows: ComparedRow[] = [];
  for (const pair of pairs) {
    const last = rows.at(-1);
    if (!pair.same) rows.push({ kind: "pair", key: `pair ${pair.index}`, pair });
    else if (last?.kind === "same") last.pairs.push(pair);
    else {
      const key = `same ${pair.index}`;
      rows.push({ kind: "same", key, pairs: [pair], isOpen: opened.has(key) });
    }
  }
  return rows;
}

/** The next pair that differs, in a direction; the same one if there is none. */
export function findDifference(pairs: StepPair[], from: number, direction: 1 | -1): number {
  const different = pairs.filter((pair) => !pair.same).map((pair) => pair.index);
  const found =
    direction > 0 ? different.find((index) => index > from) : different.findLast((index) => index < from);
  return found ?? from;
}
