import { describe, expect, it } from "vitest";

import type { Call } from "../src/calls/call-texts";
import { chooseTreeMove, listTopCalls, listTreeRows } from "../src/calls/tree-rows";

const call = (id: string, parent: string | null = null, child_count = 0) =>
  ({ call_id: id, parent_id: parent, child_count }) as Call;
const node = (id: string, children: unknown[] = []) => ({ ...call(id), children }) as never;
const names = (rows: { call: Call; level: number; note?: string }[]) =>
  rows.map((row) => `${row.note ?? row.call.call_id}@${row.level}`);

describe("the tree of calls", () => {
  it("has at the top what stands in no other call of the list", () => {
    const calls = [call("3", "2"), call("2", "1"), call("1")];
    expect(listTopCalls(calls, false).map((each) => each.call_id)).toEqual(["1"]);
    expect(listTopCalls(calls.slice(0, 2), true).map((each) => each.call_id)).toEqual(["2"]);
  });

  it("shows what is unfolded, as far as it was read", () => {
    const top = [call("1", null, 2), call("9")];
    const open = new Set(["1", "b"]);
    expect(names(listTreeRows(top, open, new Map()))).toEqual(["1@1", "loading@2", "9@1"]);
    const tree = { call: node("1", [node("a"), node("b", [node("c")])]), complete: false };
    const rows = listTreeRows(top, open, new Map([["1", tree]]));
    expect(names(rows)).toEqual(["1@1", "a@2", "b@2", "c@3", "cut@2", "9@1"]);
    expect(rows.map((row) => row.hasChildren)).toEqual([true, false, true, false, false, false]);
  });

  it("is walked by arrows", () => {
    const rows = listTreeRows([call("1", null, 1), call("2")], new Set(), new Map());
    const moves: string[] = [];
    const note = (what: string) => (it: number | string) => void moves.push(`${what} ${it}`);
    const actions = { mark: note("mark"), toggle: note("toggle"), open: note("open") };
    for (const key of ["ArrowDown", "ArrowRight", "ArrowLeft", "Enter", "End", "x"]) {
      chooseTreeMove(key, rows, 0, actions)?.();
    }
    expect(moves).toEqual(["mark 1", "toggle 1", "open 1", "mark 1"]);
  });
});
