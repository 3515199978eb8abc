import { describe, expect, it } from "vitest";

import { describeLines } from "../src/traces/line-states";
import { listBody, readSource } from "../src/traces/python-source";
import { followPass } from "../src/traces/traced-pass";

const TEXT = `    @cached
    def settle(
        orders,
    ):
        """What is owed."""
        owed = []
        for order in [
            1,
        ]:
            if order:
                owed.append(
                    order,
                )
            else:
                continue  # not owed

        try:
            check()
        except LookupError:
            pass
        match owed:
            case []:
                return None
        return owed`;
const source = readSource(Object.fromEntries(TEXT.split("\n").map((text, index) => [index + 5, text])));
const states = (lines: number[]) =>
  Object.fromEntries(
    describeLines(
      source,
      followPass(
        lines.map((line) => ({ line })),
        new Map(),
      ),
    ),
  );

describe("the source of a call", () => {
  it("is shown without the indentation that all lines have, in colours", () => {
    const [first, second] = source.lines;
    expect(first).toMatchObject({ number: 5, indent: 0, isAfterGap: false });
    expect(second?.pieces[0]).toEqual({ text: "def", look: "tok-keyword" });
    expect(second?.pieces.map((piece) => piece.text).join("")).toBe("def settle(");
  });

  it("says where lines are missing", () => {
    const { lines } = readSource({ "3": "a = 1", "9": "b = 2" });
    expect(lines.map((line) => line.isAfterGap)).toEqual([false, true]);
  });

  it("knows the lines of a loop, also if its head has several", () => {
    expect([...listBody(source, 11)].filter((line) => line > 13)).toEqual([14, 15, 16, 17, 18, 19, 20]);
  });

  it("knows which lines ran, with all lines of a statement and the word before its body", () => {
    const ran = states([10, 11, 14, 15, 22]);
    const of = (state: string) =>
      Object.keys(ran)
        .filter((line) => ran[line] === state)
        .map(Number);
    expect(of("ran")).toEqual([5, 6, 7, 8, 10, 11, 12, 13, 14, 15, 16, 17, 21, 22]);
    expect(of("skipped")).toEqual([18, 19, 23, 24, 25, 26, 27, 28]);
    expect(of("plain")).toEqual([9, 20]);
  });
});
