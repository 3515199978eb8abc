import { describe, expect, test } from "vitest";

import {
  chooseRange,
  clampSpan,
  fitBounds,
  formatTick,
  listTicks,
  panSpan,
  readSpan,
  revealSpan,
  writeSpan,
  zoomSpan,
} from "../src/calls/flame-window";

const BOUNDS = { from: 0, to: 100 };

describe("a window on time", () => {
  test("zooms so that the time under the pointer stays there", () => {
    expect(zoomSpan({ from: 0, to: 100 }, 2, 25, BOUNDS)).toEqual({ from: 12.5, to: 62.5 });
    expect(zoomSpan({ from: 12.5, to: 62.5 }, 1 / 2, 25, BOUNDS)).toEqual({ from: 0, to: 100 });
  });

  test("never shows more than there is, nor less than ten microseconds", () => {
    expect(zoomSpan({ from: 40, to: 60 }, 1 / 100, 50, BOUNDS)).toEqual(BOUNDS);
    const narrow = zoomSpan({ from: 40, to: 60 }, 1e9, 50, BOUNDS);
    expect(narrow.to - narrow.from).toBeCloseTo(0.01);
  });

  test("stops at the edges when it is moved", () => {
    expect(panSpan({ from: 10, to: 30 }, -50, BOUNDS)).toEqual({ from: 0, to: 20 });
    expect(panSpan({ from: 10, to: 30 }, 500, BOUNDS)).toEqual({ from: 80, to: 100 });
    expect(clampSpan({ from: -10, to: 300 }, BOUNDS)).toEqual(BOUNDS);
  });

  test("moves as little as possible to show a call", () => {
    const sight = { from: 40, to: 60 };
    expect(revealSpan(sight, { from: 45, to: 46 }, BOUNDS)).toBe(sight);
    expect(revealSpan(sight, { from: 70, to: 71 }, BOUNDS)).toEqual({ from: 52, to: 72 });
    expect(revealSpan(sight, { from: 30, to: 31 }, BOUNDS)).toEqual({ from: 29, to: 49 });
    expect(revealSpan(sight, { from: 50, to: 99 }, BOUNDS)).toEqual({ from: 49, to: 69 }); // its beginning
  });

  test("has a little room around everything", () => {
    expect(fitBounds(0, 100)).toEqual({ from: -1, to: 101 });
  });
});

describe("the ruler", () => {
  test("has marks at round times that are far enough apart", () => {
    const { step, times } = listTicks({ from: 3, to: 103 }, 1000);
    expect(step).toBe(10);
    expect(times).toEqual([10, 20, 30, 40, 50, 60, 70, 80, 90, 100]);
  });

  test("says them in one unit, with as many digits as tell them apart", () => {
    expect(formatTick(2500, 500, 3000)).toBe("2500 ms");
    expect(formatTick(12_000, 500, 15_000)).toBe("12.0 s");
    expect(formatTick(1.25, 0.05, 2)).toBe("1250 µs");
    expect(formatTick(0.0125, 0.0005, 0.02)).toBe("12.5 µs");
    expect(formatTick(2220.005, 0.005, 2221)).toBe("2220.005 ms");
  });
});

describe("the address", () => {
  const base = 1_700_000_000_123.456;

  test("keeps a window to the microsecond, whatever the base is", () => {
    const { from, to } = writeSpan({ from: 1.234, to: 5.678 }, base);
    expect([from, to]).toEqual(["1700000000124.690", "1700000000129.134"]);
    expect(readSpan(from, to, base)?.from).toBeCloseTo(1.234, 3);
    expect(readSpan(from, to, base - 1000)?.to).toBeCloseTo(1005.678, 3);
  });

  test("without a window, or with nonsense, is everything", () => {
    expect(readSpan("", "", base)).toBeNull();
    expect(readSpan("7", "x", base)).toBeNull();
    expect(readSpan("9", "7", base)).toBeNull();
  });
});

describe("the range that is loaded", () => {
  const newest = { range: null, begins: 50, ends: 100, isCut: true };

  test("is the newest calls as long as these are in sight", () => {
    expect(chooseRange(null, newest)).toBeNull();
    expect(chooseRange({ from: 60, to: 101 }, newest)).toBeNull();
    expect(chooseRange({ from: 0, to: 10 }, { ...newest, isCut: false })).toBeNull(); // nothing was left out
  });

  test("is what is in sight and as much on both sides, where that was left out", () => {
    expect(chooseRange({ from: 20, to: 30 }, newest)).toEqual({ from: 10, to: 40 });
  });

  test("is not asked for where the same calls would come again", () => {
    expect(chooseRange({ from: 0, to: 100 }, newest)).toBeNull();
  });

  test("stays while it has what is in sight, and goes on with it", () => {
    const loaded = { range: { from: 10, to: 40 }, begins: 10, ends: 40, isCut: false };
    expect(chooseRange({ from: 12, to: 22 }, loaded)).toBe(loaded.range);
    expect(chooseRange({ from: 35, to: 45 }, loaded)).toEqual({ from: 25, to: 55 });
    expect(chooseRange({ from: 12, to: 22 }, { ...loaded, begins: 20, isCut: true })).toEqual({
      from: 2,
      to: 32,
    });
    expect(chooseRange(null, loaded)).toBeNull();
  });
});
