import { describe, expect, it } from "vitest";

import { findDifference, foldPairs, type StepPair } from "../src/agents/compared-rows";
import { buildRows, type Lane, type Row, type Tool, type Turn } from "../src/agents/conversation-rows";
import { choosePause, findStep, type ReplayStep } from "../src/agents/replay-steps";

const tool = (tool_id: string, seq: number, more: Partial<Tool> = {}): Tool =>
  ({ tool_id, name: tool_id, seq, status: "done", input_text: "{}", subagents: [], ...more }) as Tool;

const turn = (number: number, lane: string, more: Partial<Turn> = {}): Turn =>
  ({
    ...{ number, lane, depth: lane === "main" ? 0 : 1, iteration: number, seq: number * 10 },
    ...{ status: "done", messages: [], tools: [], answer: { text: `answer ${number}`, asks_for: [] } },
    ...more,
  }) as unknown as Turn;

const LANES = [
  { lane: "main", parent: null },
  { lane: "helper", parent: "main" },
] as Lane[];

const show = (row: Row) => `${"  ".repeat(row.depth)}${row.key}`;

describe("the rows of a conversation", () => {
  const nested = [
    turn(1, "main", { tools: [tool("a", 11), tool("b", 12)] }),
    turn(2, "helper", { within: "a" }),
    turn(3, "helper", { within: "a" }),
    turn(4, "main"),
  ];

  it("put a sub-agent below the tool that runs it", () => {
    expect(buildRows(nested, LANES, new Set()).map(show)).toEqual([
      ...["answer 1", "  tool 1 a 11", "    lane helper 1 a"],
      ...["      answer 2", "      answer 3", "  tool 1 b 12", "answer 4"],
    ]);
  });

  it("keep a held turn, which does not name its tool yet, with the others of its lane", () => {
    const held = turn(3, "helper", { status: "held", answer: null });
    const rows = buildRows([nested[0] as Turn, nested[1] as Turn, held], LANES, new Set());
    expect(rows.map((row) => row.kind)).toEqual(["answer", "tool", "lane", "answer", "answer", "tool"]);
  });

  it("fold a sub-agent by its key", () => {
    const rows = buildRows(nested, LANES, new Set(["lane helper 1 a"]));
    expect(rows.map((row) => row.kind)).toEqual(["answer", "tool", "lane", "tool", "answer"]);
  });

  it("put a sub-agent that no tool runs where it ran", () => {
    const turns = [turn(1, "main", { tools: [tool("a", 11), tool("b", 30)] }), turn(2, "helper")];
    const keys = buildRows(turns, LANES, new Set()).map((row) => row.key);
    expect(keys).toEqual(["answer 1", "tool 1 a 11", "lane helper 1 ", "answer 2", "tool 1 b 30"]);
  });

  it("fold messages that repeat the turn before, and no others", () => {
    const said = [
      { role: "assistant", text: "answer 1" },
      { role: "tool", text: "4.0" },
      { role: "assistant", text: "injected" },
      { role: "user", text: "go on" },
    ];
    const turns = [turn(1, "main", { tools: [tool("a", 11)] }), turn(2, "main", { messages: said })];
    expect(buildRows(turns, LANES, new Set()).map((row) => row.key)).toEqual([
      ...["answer 1", "tool 1 a 11", "message 2 2", "message 2 3", "answer 2"],
    ]);
    expect(buildRows(turns, LANES, new Set(["echo 2"]))).toHaveLength(7);
  });
});

describe("a replay", () => {
  const steps = [2, 5, 9].map((seq) => ({ seq, time: seq * 1000 }) as ReplayStep);

  it("finds the step at an event, or the last before it", () => {
    expect([1, 2, 4, 5, 100].map((seq) => findStep(steps, seq))).toEqual([-1, 0, 0, 1, 2]);
  });

  it("waits as long as it took, but not long", () => {
    const [first, second] = steps as [ReplayStep, ReplayStep];
    expect(choosePause(first, second, 16)).toBe(187.5);
    expect(choosePause(first, second, 1)).toBe(2000);
    expect(choosePause(second, first, 1)).toBe(40);
  });
});

describe("two runs", () => {
  const pairs = [true, true, false, true, false].map((same, index) => ({ index, same }) as StepPair);

  it("fold what is the same", () => {
    expect(foldPairs(pairs, new Set(["same 3"])).map((row) => row.key)).toEqual([
      ...["same 0", "pair 2", "same 3", "pair 4"],
    ]);
  });

  it("go from difference to difference", () => {
    expect([findDifference(pairs, -1, 1), findDifference(pairs, 2, 1), findDifference(pairs, 4, 1)]).toEqual([
      2, 4, 4,
    ]);
    expect(findDifference(pairs, 4, -1)).toBe(2);
  });
});
