import type { Schemas } from "../api/client";

type CountedCalls = Schemas["CountedCalls"];

/** A row in sight of the call tree. */
export interface TimedRow {
  /** Where it is in the whole tree. */
  at: number;
  calls: CountedCalls;
  hasChildren: boolean;
  isOpen: boolean;
}

/** The rows that are not below a folded one. The tree has each caller before its callees. */
export function listTimedRows(tree: readonly CountedCalls[], folded: ReadonlySet<number>): TimedRow[] {
  const rows: TimedRow[] = [];
  let hiddenBelow = Number.POSITIVE_INFINITY;
  for (const [at, calls] of tree.entries()) {
    const depth = calls.depth ?? 0;
    if (depth > hiddenBelow) continue;
    const isOpen = !folded.has(at);
    hiddenBelow = isOpen ? Number.POSITIVE_INFINITY : depth;
    rows.push({ at, calls, hasChildren: (tree[at + 1]?.depth ?? 0) > depth, isOpen });
  }
  return rows;
}
