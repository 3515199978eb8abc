import { describe, expect, it } from "vitest";

import { nameKey } from "../src/ui/commands";
import { formatDuration } from "../src/ui/format";

const press = (key: string, more: Partial<KeyboardEvent> = {}) =>
  nameKey({ key, shiftKey: false, ctrlKey: false, metaKey: false, altKey: false, ...more });

describe("nameKey", () => {
  it("says keys as people do", () => {
    expect(press("F11", { shiftKey: true })).toBe("shift+F11");
    expect(press("K", { metaKey: true })).toBe("ctrl+k");
    expect(press("?", { shiftKey: true })).toBe("?"); // the shift is part of the letter
  });
});

describe("formatDuration", () => {
  it("chooses the unit with few digits", () => {
    expect([0.01234, 12.345, 1500, 61_000].map(formatDuration)).toEqual([
      "12.3 µs",
      "12.3 ms",
      "1.5 s",
      "1 min 1 s",
    ]);
  });
});
