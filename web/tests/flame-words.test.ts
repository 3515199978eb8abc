import { readFileSync } from "node:fs";

import { describe, expect, test } from "vitest";

import { chooseHue, chooseHues, HUES } from "../src/calls/flame-palette";
import { arrangeTimeline } from "../src/calls/flame-timeline";
import { describeAmount, describeCall, nameLanes } from "../src/calls/flame-words";
import { buildAnswer } from "./flame-samples";

const lane = (session_id: string, thread: string | null, task: string | null = null) => ({
  session_id,
  thread,
  thread_id: 7,
  task,
});

describe("words", () => {
  test("name lanes by thread and task, and by session where there are several", () => {
    expect(nameLanes([lane("a", "Main"), lane("a", null, "Task-1")], String)).toEqual([
      "Main",
      "thread 7 · Task-1",
    ]);
    const name = (id: string) => `shop ${id}`;
    expect(nameLanes([lane("a", "Main"), lane("b", "Main")], name)).toEqual([
      "shop a · Main",
      "shop b · Main",
    ]);
  });

  test("tell what a call is, and that it has not ended or is held", () => {
    const calls = [
      { start: 0, duration: 1.5, name: "Cart.add" },
      { start: 2, duration: null, name: "pay", status: "running" },
    ];
    const timeline = arrangeTimeline(buildAnswer(calls));
    expect(describeCall(timeline, 0, false)).toMatchObject({
      name: "Cart.add",
      duration: "1.5 ms",
      status: "success",
    });
    expect(describeCall(timeline, 1, true)).toMatchObject({
      name: "pay",
      duration: "not ended",
      status: "held",
    });
  });

  test("say how many are shown, of how many", () => {
    const calls = [{ start: 0, duration: 1 }];
    const loaded = {
      timeline: arrangeTimeline(buildAnswer(calls)),
      range: null,
      total: 1,
      isCut: false,
      lookedAt: 1,
      undecided: 0,
      reasons: [],
    };
    expect(describeAmount(loaded, false)).toBe("1 call");
    expect(describeAmount({ ...loaded, total: 2_000_000, isCut: true }, false)).toBe(
      "latest 1 of 2,000,000 calls",
    );
    expect(describeAmount({ ...loaded, total: 30_000, lookedAt: 20_000, undecided: 3 }, true)).toBe(
      "1 fit, of the latest 20,000 · not looked at: 10,000 · no answer for 3",
    );
  });
});

describe("colours", () => {
  const sheet = readFileSync(new URL("../src/calls/flame.css", import.meta.url), "utf8");
  const colors: Record<string, { light: string; dark: string }> = Object.fromEntries(
    [...sheet.matchAll(/--(flame-[\w-]+): light-dark\((#\w+), (#\w+)\)/g)].map(([, name, light, dark]) => [
      name,
      { light: light as string, dark: dark as string },
    ]),
  );

  test("stay the same for a function and use all hues", () => {
    expect(chooseHue("Cart.add")).toBe(chooseHue("Cart.add"));
    const hues = new Set(Array.from({ length: 500 }, (_, number) => chooseHue(`function_${number}`)));
    expect(hues.size).toBe(HUES);
    const few = Array.from({ length: HUES }, (_, number) => `Shop.method_${number}`);
    expect(new Set(chooseHues(few)).size).toBe(HUES); // no two look the same while there are enough
  });

  test.each(["light", "dark"] as const)(
    "have enough contrast with the text on them, in the %s theme",
    (theme) => {
      const text = colors["flame-text"]?.[theme] as string;
      const boxes = Object.entries(colors).filter(([name]) => name !== "flame-text");
      expect(boxes).toHaveLength(HUES + 3);
      for (const [name, color] of boxes)
        expect(contrast(color[theme], text), name).toBeGreaterThanOrEqual(4.5);
    },
  );
});

/** The contrast of two colours, as WCAG defines it. */
function contrast(one: string, other: string): number {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

function luminance(color: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
