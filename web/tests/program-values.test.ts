import { expect, test } from "vitest";

import { findExecutableLine, listSourceBreakpoints } from "../src/programs/breakpoint-facts";
import { LineHistory } from "../src/programs/line-history";
import { listLineValues } from "../src/programs/line-values";
import { addOutput, emptyOutput } from "../src/programs/output-so-far";
import { type Breakpoint, mergeState, type Program } from "../src/programs/program-state";
import { UnfoldedPaths } from "../src/programs/unfolded-paths";
import { ValueMemory } from "../src/programs/value-memory";

test("a value has changed if it was another one at the stop before", () => {
  const memory = new ValueMemory();
  expect(memory.note("f", "f/x", "stop 1", "1")).toBe(false);
  expect(memory.note("f", "f/x", "stop 1", "1")).toBe(false);
  expect(memory.note("f", "f/x", "stop 2", "2")).toBe(true);
  expect(memory.note("f", "f/x", "stop 2", "2")).toBe(true); // drawn twice, it stays marked
  expect(memory.note("f", "f/x", "stop 3", "2")).toBe(false);
});

test("a variable that is new where others were seen has changed", () => {
  const memory = new ValueMemory();
  memory.note("f", "f/x", "stop 1", "1");
  expect(memory.note("f", "f/y", "stop 1", "1")).toBe(false);
  expect(memory.note("f", "f/z", "stop 2", "1")).toBe(true);
  expect(memory.note("f", "f/z", "stop 2", "1")).toBe(true);
});

test("a value that was set by hand counts from the stop before", () => {
  const memory = new ValueMemory();
  memory.note("f", "f/x", "stop 1", "1");
  memory.note("f", "f/x", "stop 2", "1");
  expect(memory.note("f", "f/x", "stop 2", "5")).toBe(true);
  expect(memory.note("f", "f/x", "stop 2", "1")).toBe(false);
});

test("what is unfolded outlives a reload", () => {
  const kept = new Map<string, string>();
  const storage = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, text: string) => void kept.set(key, text),
  };
  const paths = new UnfoldedPaths("key", storage);
  paths.set("f/order", true);
  paths.set("f/other", true);
  paths.set("f/other", false);
  expect([...new UnfoldedPaths("key", storage).get()]).toEqual(["f/order"]);
});

const page = (texts: [number, string][], cursor: string, dropped = 0) => ({
  outputs: texts.map(([seq, text]) => ({ seq, text, type: "stdout" })),
  cursor,
  has_more: false,
  dropped,
});

test("output goes on where the last answer ended, and nothing comes twice", () => {
  const first = addOutput(emptyOutput, page([[1, "a"]], "1"));
  const second = addOutput(
    first,
    page(
      [
        [1, "a"],
        [2, "b"],
      ],
      "2",
      3,
    ),
  );
  expect(second.entries.map(({ text }) => text)).toEqual(["a", "b"]);
  expect(second).toMatchObject({ cursor: "2", dropped: 3, left: 0 });
  expect(addOutput(second, page([], "2")).entries).toBe(second.entries);
});

test("the oldest output makes room, and is counted", () => {
  const many = Array.from({ length: 20_003 }, (_, index) => [index + 1, "x"] as [number, string]);
  const output = addOutput(emptyOutput, page(many, "20003"));
  expect(output.entries.length).toBe(20_000);
  expect(output.left).toBe(3);
});

test("a line's values are those of the variables that it names", () => {
  const locals = [
    { name: "price", value: "4", type: "int" },
    { name: "total", value: "<function>", type: "function" },
    { name: "amount", value: "0", type: "int" },
    { name: "text", value: `'${"x".repeat(100)}'`, type: "str" },
  ];
  expect(listLineValues("amount += order.price  # price", locals)).toBe("amount = 0");
  expect(listLineValues("total(price, amount)", locals)).toBe("price = 4   amount = 0");
  expect(listLineValues("print(text)", locals).length).toBeLessThan(60);
});

test("history goes back, and forth to what was being typed", () => {
  const history = new LineHistory();
  history.add("a");
  history.add("b");
  history.add("b");
  expect(history.move(-1, "draft")).toBe("b");
  expect(history.move(-1, "b")).toBe("a");
  expect(history.move(-1, "a")).toBeNull();
  expect(history.move(1, "a")).toBe("b");
  expect(history.move(1, "b")).toBe("draft");
  expect(history.move(1, "draft")).toBeNull();
});

test("a breakpoint is set at the next line that can stop", () => {
  expect(findExecutableLine(3, [1, 4, 9])).toBe(4);
  expect(findExecutableLine(4, [1, 4, 9])).toBe(4);
  expect(findExecutableLine(10, [1, 4, 9])).toBe(10);
  expect(findExecutableLine(3, undefined)).toBe(3);
});

test("the gutter has one dot for each line of its file", () => {
  const base = { kind: "line", verified: true, enabled: true };
  const breakpoints = [
    { ...base, file: "/a.py", line: 1 },
    { ...base, file: "/a.py", line: 2, condition: "x" },
    { ...base, file: "/a.py", line: 3, log_message: "x", condition: "y" },
    { ...base, file: "/b.py", line: 4 },
    { ...base, kind: "data", expression: "x" },
  ] as Breakpoint[];
  const shown = listSourceBreakpoints(breakpoints, "/a.py").map(({ line, kind }) => [line, kind]);
  expect(shown).toEqual([
    [1, "plain"],
    [2, "conditional"],
    [3, "log"],
  ]);
});

test("a new state leaves nothing of the old one, and keeps the configuration", () => {
  const before = { name: "shop", run: 2, status: "paused", prompt: "?", watches: [{ id: "1" }] } as Program;
  const state = { session_id: "s", status: "running", locals: [], stack: [] };
  expect(mergeState(before, state)).toMatchObject({ name: "shop", run: 2, status: "running" });
  expect(mergeState(before, state)).not.toHaveProperty("prompt");
  expect(mergeState(before, state)).not.toHaveProperty("locals");
  expect(mergeState(before, state).watches).toHaveLength(1);
});
