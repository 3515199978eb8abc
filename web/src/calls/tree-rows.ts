import type { Schemas } from "../api/client";
import type { Call } from "./call-texts";

export type CallNode = Schemas["CallNode"];

/** A row of the tree: a call, how deep it is, and whether one can unfold it. */
export interface TreeRow {
  call: Call;
  level: number;
  isOpen: boolean;
  hasChildren: boolean;
  /** The call under which it stands. */
  parent: string | null;
  /** Instead of a call: what stands for the calls under an unfolded one. */
  note?: "loading" | "cut";
}

export interface LoadedTree {
  call: CallNode;
  complete: boolean;
}

/** The calls at the top: those that stand in no other call of the list. */
export function listTopCalls(calls: Call[], isFiltered: boolean): Call[] {
  if (!isFiltered) return calls.filter((call) => call.parent_id === null);
  const ids = new Set(calls.map((call) => call.call_id));
  return calls.filter((call) => call.parent_id === null || !ids.has(call.parent_id));
}

/** The rows in sight of the tree, if the calls in `open` are unfolded. */
export function listTreeRows(
  top: Call[],
  open: ReadonlySet<string>,
  trees: ReadonlyMap<string, LoadedTree>,
): TreeRow[] {
  const rows: TreeRow[] = [];
  const addNode = (node: CallNode, level: number, parent: string) => {
    const isOpen = open.has(node.call_id);
    rows.push({ call: node, level, isOpen, hasChildren: node.children.length > 0, parent });
    if (isOpen) for (const child of node.children) addNode(child, level + 1, node.call_id);
  };
  for (const call of top) {
    const isOpen = open.has(call.call_id);
    rows.push({ call, level: 1, isOpen, hasChildren: (call.child_count ?? 0) > 0, parent: null });
    if (!isOpen) continue;
    const tree = trees.get(call.call_id);
    const note = (kind: "loading" | "cut") =>
      rows.push({ call, level: 2, isOpen: false, hasChildren: false, parent: call.call_id, note: kind });
    if (!tree) note("loading");
    else {
      for (const child of tree.call.children) addNode(child, 2, call.call_id);
      if (!tree.complete) note("cut");
    }
  }
  return rows;
}

interface TreeMoves {
  mark: (at: number) => void;
  toggle: (id: string) => void;
  open: (id: string) => void;
}

/** What a key does in the tree, as in every tree. */
export function chooseTreeMove(
  key: string,
  rows: TreeRow[],
  at: number,
  moves: TreeMoves,
): (() => void) | null {
  const row = rows[at];
  switch (key) {
    case "ArrowDown":
      return () => moves.mark(at + 1);
    case "ArrowUp":
      return () => moves.mark(at - 1);
    case "Home":
      return () => moves.mark(0);
    case "End":
      return () => moves.mark(rows.length - 1);
    case "Enter":
      return row ? () => moves.open(row.call.call_id) : null;
    case "ArrowRight":
      if (!row?.hasChildren) return null;
      return row.isOpen ? () => moves.mark(at + 1) : () => moves.toggle(row.call.call_id);
    case "ArrowLeft":
      if (row?.isOpen) return () => moves.toggle(row.call.call_id);
      return row?.parent
        ? () => moves.mark(rows.findIndex((each) => each.call.call_id === row.parent))
        : null;
    default:
      return null;
  }
}
