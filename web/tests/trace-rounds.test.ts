import { describe, expect, it } from "vitest";

import {
  findUnusual,
  formatRounds,
  type Loop,
  listMarks,
  moveRound,
  parseRounds,
  pickRound,
} from "../src/traces/loop-rounds";
import { chooseFirst, type Entry, followPass } from "../src/traces/traced-pass";
import { findStep, listShownRounds, nameAsked } from "../src/traces/why-steps";

const set = (line: number, name: string, value: number): Entry => ({
  line,
  changes: [{ name, how: "set", text: `${name} = ${value}`, value: String(value) }],
});
const loopOf = (numbers: number[], iterations: number): Loop => ({
  iterations,
  rounds: numbers.map((number) => ({ number })),
});

describe("the rounds of a loop", () => {
  it("are in the address", () => {
    const choice = parseRounds("12.7~15.3");
    expect([...choice]).toEqual([
      [12, 7],
      [15, 3],
    ]);
    expect(formatRounds(choice)).toBe("12.7~15.3");
    expect(parseRounds("nonsense").size).toBe(0);
  });

  it("that were not kept are passed over, in the direction in which one goes", () => {
    const loop = loopOf([1, 2, 3, 90, 100], 100);
    expect(moveRound(loop, 3, 4)).toBe(90);
    expect(moveRound(loop, 90, 89)).toBe(3);
    expect(moveRound(loop, 100, 101)).toBe(100);
    expect(moveRound(loop, 1, 0)).toBe(1);
    expect(pickRound(loop, 60)?.number).toBe(90);
    expect(pickRound(loop, 40)?.number).toBe(3);
    expect(pickRound(loop, 500)?.number).toBe(100);
    expect(pickRound(loopOf([], 9), 1)).toBeUndefined();
  });

  it("have marks where they are unusual, at most one at a place", () => {
    const loop = loopOf([1, 2, 5000, 5001, 10_000], 10_000);
    for (const round of loop.rounds ?? []) if (round.number > 1) round.remark = "new path";
    expect(listMarks(loop).map(({ round }) => round.number)).toEqual([2, 5000, 10_000]);
    expect(listMarks(loop).at(-1)?.at).toBe(1);
    expect(findUnusual(loop, 5000).before?.number).toBe(2);
    expect(findUnusual(loop, 5000).after?.number).toBe(5001);
    expect(findUnusual(loop, 10_000).after).toBeUndefined();
  });
});

const inner = (count: number): Entry => ({
  line: 4,
  loop: {
    iterations: count,
    rounds: Array.from({ length: count }, (_, at) => ({ number: at + 1, entries: [set(5, "n", at)] })),
  },
});
const outer: Entry[] = [
  set(2, "total", 0),
  {
    line: 3,
    loop: {
      iterations: 4,
      rounds: [
        { number: 1, entries: [set(3, "x", 1), inner(2)], path: [] },
        { number: 2, entries: [set(3, "x", 2), inner(3)], path: [] },
        { number: 3, values: { x: "3" }, path: [] },
        { number: 4, values: { x: "4" }, path: [7] },
      ],
    },
  },
  { line: 9 },
];
const textsAt = (line: number, address: string) =>
  followPass(outer, parseRounds(address))
    .lines.get(line)
    ?.steps.flatMap((step) => step.changes?.map((change) => change.text));

describe("a pass through a call", () => {
  it("shows the chosen round of each loop, and of an inner one the round within it", () => {
    expect(textsAt(3, "")).toEqual(["x = 1"]);
    expect(textsAt(3, "3.2")).toEqual(["x = 2"]);
    expect(textsAt(5, "3.2~4.3")).toEqual(["n = 2"]);
    expect(textsAt(5, "3.1~4.3")).toEqual(["n = 1"]); // it has only two
  });

  it("knows which lines ran in a round of values by another one that went the same way", () => {
    const alike = followPass(outer, parseRounds("3.3"));
    expect([...alike.executed]).toEqual([2, 3, 4, 5, 9]);
    expect(alike.lines.has(5)).toBe(false);
    expect(alike.unclear.size).toBe(0);
    const other = followPass(outer, parseRounds("3.4"));
    expect([...other.executed]).toEqual([2, 3, 7, 9]);
    expect([...other.unclear]).toEqual([3]);
  });

  it("begins with the round that raised, if one did", () => {
    const rounds = [{ number: 1 }, { number: 2, entries: [{ line: 5, raised: "ValueError" }] }];
    expect(chooseFirst({ iterations: 2, rounds })).toBe(2);
    expect(chooseFirst({ iterations: 3, rounds })).toBe(1);
    expect(chooseFirst({ iterations: 0 })).toBe(1);
  });

  it("tells which rounds are looked at", () => {
    expect([...listShownRounds(followPass(outer, parseRounds("3.2~4.9")))]).toEqual([
      [3, 2],
      [4, 3],
    ]);
  });

  it("is found again in another recording, if those very rounds were kept", () => {
    const textOf = (address: string, line: number, name: string) =>
      findStep(outer, parseRounds(address), line, name)?.changes?.[0]?.text;
    expect(textOf("", 2, "total")).toBe("total = 0");
    expect(textOf("3.2~4.3", 5, "n")).toBe("n = 2");
    expect(textOf("3.1~4.3", 5, "n")).toBeUndefined();
    expect(textOf("3.3", 3, "x")).toBeUndefined();
    expect(textOf("3.2", 3, "total")).toBeUndefined();
  });
});

it("is asked for an attribute, if that is what changed", () => {
  const change = (name: string, text: string) => ({ name, text, how: "mutated" });
  expect(nameAsked(change("order", "order.total = 3"))).toBe("order.total");
  expect(nameAsked(change("order", "order.total: 2 -> 3"))).toBe("order.total");
  expect(nameAsked(change("rows", "rows + [4]"))).toBe("rows");
  expect(nameAsked(change("rows", "rows[i] = 4"))).toBe("rows");
  expect(nameAsked(change("total", "total = 3"))).toBe("total");
});
