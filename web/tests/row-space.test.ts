import { expect, test } from "vitest";

import { fitRows, revealRow } from "../src/ui/row-space";

const SIGHT = 700;

test("rows that fit are laid out as they are", () => {
  expect(fitRows(20_000, 28, SIGHT)).toEqual({ height: 560_000, scale: 1 });
});

test.each([
  [1_000_000, 28],
  [1_000_000, 32],
  [50_000_000, 40],
])("the last of %i rows of %i pixels is reached", (count, rowHeight) => {
  const { height, scale } = fitRows(count, rowHeight, SIGHT);
  const lowest = height - SIGHT; // as far as one can scroll
  expect(height).toBeLessThan(17_000_000);
  expect(lowest * scale + SIGHT).toBeCloseTo(count * rowHeight, 3);
});

test("a row comes in sight with as little scrolling as possible", () => {
  expect(revealRow(10, 28, 0, SIGHT)).toBe(0); // it is in sight
  expect(revealRow(10, 28, 1000, SIGHT)).toBe(280); // it was above
  expect(revealRow(100, 28, 0, SIGHT)).toBe(2828 - SIGHT); // it was below
  expect(revealRow(0, 28, 500, SIGHT)).toBe(0);
});
