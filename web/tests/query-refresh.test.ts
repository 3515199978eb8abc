import { beforeAll, describe, expect, it } from "vitest";

import type { Event, StreamMessage } from "../src/live/event-stream";

let listStaleKeys: (message: StreamMessage) => string[][];
beforeAll(async () => {
  // The module opens a channel between tabs and reads the address; a test has neither.
  Object.assign(globalThis, {
    location: { hash: "", origin: "http://localhost" },
    sessionStorage: { getItem: () => null },
  });
  ({ listStaleKeys } = await import("../src/live/query-refresh"));
});

const event = (type: string, session_id = "s1") => ({ seq: 1, session_id, type }) as unknown as Event;

describe("listStaleKeys", () => {
  it("names everything after a gap, because anything may have changed", () => {
    expect(listStaleKeys({ kind: "events", events: [], missed: true })).toEqual([[]]);
    expect(listStaleKeys({ kind: "hello", resumed: false })).toEqual([[]]);
    expect(listStaleKeys({ kind: "hello", resumed: true })).toEqual([]);
  });

  it("names a session once, however many of its events came", () => {
    const events = [event("stopped"), event("continued"), event("stopped")];
    expect(listStaleKeys({ kind: "events", events, missed: false })).toEqual([
      ["sessions"],
      ["session", "s1"],
      ["holds"],
    ]);
  });

  it("names the calls only when calls were recorded", () => {
    const change = (calls?: number): StreamMessage => ({
      kind: "changes",
      sessions: { s1: { status: "running", ...(calls === undefined ? {} : { calls }) } },
      gone: [],
    });
    expect(listStaleKeys(change(3))).toContainEqual(["calls"]);
    expect(listStaleKeys(change())).not.toContainEqual(["calls"]);
  });
});
