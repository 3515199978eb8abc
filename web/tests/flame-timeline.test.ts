import { describe, expect, test } from "vitest";

import { countByPixel, FlameBoxes, layOutBoxes } from "../src/calls/flame-boxes";
import {
  arrangeTimeline,
  countBegun,
  findCallAt,
  findRowAt,
  LABEL_HEIGHT,
  ROW_HEIGHT,
  walk,
} from "../src/calls/flame-timeline";
import { buildAnswer, type SampleCall } from "./flame-samples";

/** A caller of two, another one after it, and a call of another thread that still runs. */
const FAMILY: SampleCall[] = [
  { start: 0, duration: 10, name: "outer" },
  { start: 1, duration: 3, depth: 1, name: "left" },
  { start: 5, duration: 4, depth: 1, name: "right", status: "exception" },
  { start: 6, duration: null, lane: 1, name: "waiter", status: "running" },
  { start: 20, duration: 5, name: "outer" },
];

const boxesOf = (calls: SampleCall[], from: number, to: number, pixels: number) => {
  const timeline = arrangeTimeline(buildAnswer(calls));
  const boxes = new FlameBoxes();
  layOutBoxes(timeline, { from, to }, pixels, 0, timeline.rows.length - 1, boxes);
  return Array.from({ length: boxes.count }, (_, at) => ({
    call: boxes.call[at],
    x: boxes.x[at],
    width: boxes.width[at],
    failed: boxes.failed[at] === 1,
  }));
};

describe("a timeline", () => {
  const timeline = arrangeTimeline(buildAnswer(FAMILY));

  test("has a row for each depth of each lane, and its calls in order", () => {
    expect(timeline.rows.map(({ lane, depth, calls }) => [lane, depth, [...calls]])).toEqual([
      [0, 0, [0, 4]],
      [0, 1, [1, 2]],
      [1, 0, [3]],
    ]);
  });

  test("has the main thread first and the others by name, whichever began first", () => {
    const answer = buildAnswer([
      { start: 0, duration: 1, lane: 2 },
      { start: 1, duration: 1, lane: 0 },
      { start: 2, duration: 1, lane: 1 },
    ]);
    const names = ["worker-10", "MainThread", "worker-9"];
    answer.lanes.forEach((lane, index) => {
      lane.thread = names[index] as string;
    });
    const sorted = arrangeTimeline(answer);
    expect(sorted.lanes.map((lane) => lane.thread)).toEqual(["MainThread", "worker-9", "worker-10"]);
    expect([...sorted.rowOf]).toEqual([1, 2, 0]);
  });

  test("ends what still runs where everything ends", () => {
    expect(timeline.end[3]).toBe(25);
    expect(timeline.latest).toBe(25);
  });

  test("finds the row at a height, and none between lanes", () => {
    expect(findRowAt(timeline, 0)).toBe(-1); // the label of the first lane
    expect(findRowAt(timeline, LABEL_HEIGHT)).toBe(0);
    expect(findRowAt(timeline, LABEL_HEIGHT + ROW_HEIGHT)).toBe(1);
    expect(findRowAt(timeline, LABEL_HEIGHT + 2 * ROW_HEIGHT)).toBe(-1);
    expect(findRowAt(timeline, timeline.height + 100)).toBe(-1);
  });

  test("finds the call at a time, also a bit beside it", () => {
    expect(findCallAt(timeline, 0, 7, 0)).toBe(0);
    expect(findCallAt(timeline, 0, 15, 0)).toBe(-1);
    expect(findCallAt(timeline, 0, 19, 1)).toBe(4);
    expect(findCallAt(timeline, 1, 4.5, 0.6)).toBe(1);
    expect(findCallAt(timeline, 9, 1, 1)).toBe(-1);
  });

  test("counts the calls that begin within a span", () => {
    expect(countBegun(timeline, 1, 0, 5)).toBe(1);
    expect(countBegun(timeline, 1, 0, 5.1)).toBe(2);
  });

  test("is walked by siblings, callers, callees and lanes, and stays at its edges", () => {
    expect(walk(timeline, 0, "next")).toBe(4);
    expect(walk(timeline, 4, "next")).toBe(4);
    expect(walk(timeline, 4, "previous")).toBe(0);
    expect(walk(timeline, 0, "previous")).toBe(0);
    expect(walk(timeline, 0, "child")).toBe(1);
    expect(walk(timeline, 1, "next")).toBe(2);
    expect(walk(timeline, 2, "parent")).toBe(0);
    expect(walk(timeline, 0, "parent")).toBe(0);
    expect(walk(timeline, 4, "child")).toBe(4); // nothing was called within it
    expect(walk(timeline, 2, "child")).toBe(2); // the row below is another lane's
    expect(walk(timeline, 0, "next lane")).toBe(3);
    expect(walk(timeline, 3, "next lane")).toBe(3);
    expect(walk(timeline, 3, "previous lane")).toBe(0);
  });

  test("takes as caller what began last, even if it seems to have ended before", () => {
    const late = arrangeTimeline(
      buildAnswer([
        { start: 0, duration: 5 },
        { start: 6, duration: 1, depth: 1 },
        { start: 9, duration: 5 },
      ]),
    );
    expect(walk(late, 1, "parent")).toBe(0);
    expect(walk(late, 0, "child")).toBe(1);
    expect(walk(late, 2, "child")).toBe(2);
  });

  test("may be empty", () => {
    const empty = arrangeTimeline(buildAnswer([]));
    expect([empty.count, empty.rows.length, empty.height, empty.latest]).toEqual([0, 0, 0, 0]);
  });
});

describe("boxes", () => {
  test("are where their calls are", () => {
    const outer = boxesOf(FAMILY, 0, 25, 250).filter(({ call }) => call === 0 || call === 4);
    expect(outer).toEqual([
      { call: 0, x: 0, width: 100, failed: false },
      { call: 4, x: 200, width: 50, failed: false },
    ]);
  });

  test("of what began before and ends in sight are there, and nothing out of sight is", () => {
    expect(boxesOf(FAMILY, 8, 9, 100).map(({ call }) => call)).toEqual([0, 2, 3]);
    expect(boxesOf(FAMILY, 26, 30, 100)).toEqual([]);
  });

  test("stand for all calls that begin in the same pixel, and tell that one of them failed", () => {
    const calls = Array.from({ length: 1000 }, (_, index) => ({
      start: index * 0.01,
      duration: 0.005,
      status: index === 555 ? "exception" : "success",
    }));
    const boxes = boxesOf(calls, 0, 10, 10);
    expect(boxes.map(({ x, width }) => [x, width])).toEqual(Array.from({ length: 10 }, (_, x) => [x, 1]));
    expect(boxes.findIndex(({ failed }) => failed)).toBe(5);
    expect(boxes.filter(({ failed }) => failed)).toHaveLength(1);
  });

  test("do not become more with more calls", () => {
    const calls = Array.from({ length: 100_000 }, (_, index) => ({ start: index * 0.001, duration: 0.0005 }));
    expect(boxesOf(calls, 0, 100, 1280).length).toBeLessThanOrEqual(1281);
  });

  test("become more than there was room for, and are all there", () => {
    const calls = Array.from({ length: 10_000 }, (_, index) => ({ start: index, duration: 1 }));
    const boxes = boxesOf(calls, 0, 10_000, 20_000);
    expect(boxes).toHaveLength(10_000);
    expect(boxes.at(-1)).toEqual({ call: 9999, x: 19_998, width: 2, failed: false });
  });
});

test("the map counts the calls of each pixel and knows where one failed", () => {
  const timeline = arrangeTimeline(buildAnswer(FAMILY));
  const { calls, failed } = countByPixel(timeline, { from: 0, to: 25 }, 5);
  expect([...calls]).toEqual([2, 2, 0, 0, 1]);
  expect([...failed]).toEqual([0, 1, 0, 0, 0]);
});
