import { expect, test } from "vitest";

import { expandPlace, shortenPlace, shortName } from "../src/traces/recorded-places";
import { listTimedRows } from "../src/traces/timed-rows";
import { emptyTrace, makeTraceRequest } from "../src/traces/trace-request";
import { formatBytes, nameKind, nameTarget, readFinding } from "../src/traces/trace-texts";

test("a request has what was filled in, and how the call is picked", () => {
  const fields = { ...emptyTrace, target: " orders.py ", args: "--day 'last monday'" };
  expect(makeTraceRequest(fields)).toEqual({ target: "orders.py", args: ["--day", "last monday"] });
  const named = { ...fields, args: "", function: "total" };
  expect(makeTraceRequest(named)).toEqual({ target: "orders.py", function: "total", call: 1 });
  expect(makeTraceRequest({ ...named, pick: "raised" })).toMatchObject({ raised: true });
  expect(makeTraceRequest({ ...named, pick: "where", where: "n > 3" })).toMatchObject({ where: "n > 3" });
  expect(() => makeTraceRequest({ ...named, pick: "where" })).toThrow("Write a condition");
  expect(() => makeTraceRequest({ ...named, call: "0" })).toThrow("counted from 1");
});

const recorded = (key: string, name: string, line: number) => ({
  ...{ key, function: name, file: "/s/a.py", line, index: 1, outcome: "returned" },
});

test("what is below a folded function is not in sight", () => {
  const tree = [0, 1, 2, 2, 1].map((depth) => ({ depth })) as never[];
  expect(listTimedRows(tree, new Set()).map((row) => row.hasChildren)).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
  expect(listTimedRows(tree, new Set([1])).map((row) => row.at)).toEqual([0, 1, 4]);
  expect(listTimedRows(tree, new Set([0])).map((row) => row.at)).toEqual([0]);
});

test("names and sizes are short", () => {
  expect(shortName("orders.Order.total", "/shop/orders.py")).toBe("Order.total");
  expect(shortName("shop.orders.total", "/shop/orders.py")).toBe("shop.orders.total");
  expect(nameKind({ recorded: "frame", function: "orders.total" })).toBe("calls of orders.total");
  expect(nameKind({ recorded: "run" })).toBe("the whole run");
  expect(nameTarget({ target: "/shop/today/report.py --day /a/b", trace_id: "trc" })).toBe(
    "report.py --day /a/b",
  );
  expect(nameTarget({ target: "pytest -k cart", trace_id: "trc" })).toBe("pytest -k cart");
  expect([formatBytes(12), formatBytes(182_345), formatBytes(3_400_000)]).toEqual([
    "12 B",
    "182 kB",
    "3.4 MB",
  ]);
});

test("a place may be written short if it is clear which file is meant", () => {
  const files = ["/shop/orders.py", "/shop/a/rates.py", "/shop/b/rates.py"];
  expect(expandPlace("orders.py:12", files)).toBe("/shop/orders.py:12");
  expect(expandPlace(" 12 ", files)).toBe("/shop/orders.py:12");
  expect(expandPlace("a/rates.py:3", files)).toBe("/shop/a/rates.py:3");
  expect(expandPlace("rates.py:3", files)).toBe("rates.py:3");
  expect(expandPlace("nonsense", files)).toBe("nonsense");
  expect(shortenPlace("/shop/orders.py:12", files)).toBe("orders.py:12");
  expect(shortenPlace("/shop/a/rates.py:3", files)).toBe("/shop/a/rates.py:3");
});

test("a finding leads to its call and line", () => {
  const calls = [recorded("7", "orders.total", 2)];
  expect(readFinding("orders.total call 1: line 12: amount = 8", calls)).toMatchObject({
    key: "7",
    line: "12",
    words: "amount = 8",
  });
  expect(readFinding("orders.total call 9: line 12: amount = 8", calls)).toBeNull();
  expect(readFinding("orders.total call 1: argument n = 8", calls)).toMatchObject({
    line: undefined,
    words: "argument n = 8",
  });
  expect(readFinding("nowhere", calls)).toBeNull();
});
