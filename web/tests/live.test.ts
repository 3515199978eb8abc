import { describe, expect, it } from "vitest";

import { Ring } from "../src/live/ring";
import { SseParser } from "../src/live/sse-parser";

describe("SseParser", () => {
  it("cuts a stream into messages, however its pieces fall", () => {
    const text = 'id: a-1\nevent: events\ndata: {"events":[]}\n\n: still here\n\nevent: hello\ndata: {}\n\n';
    for (const size of [1, 7, text.length]) {
      const parser = new SseParser();
      const messages = [];
      for (let at = 0; at < text.length; at += size) messages.push(...parser.push(text.slice(at, at + size)));
      expect(messages).toEqual([
        { id: "a-1", event: "events", data: '{"events":[]}' },
        { id: null, event: "hello", data: "{}" },
      ]);
    }
  });

  it("joins the lines of one message", () => {
    expect(new SseParser().push("data: a\ndata: b\n\n")[0]?.data).toBe("a\nb");
  });
});

describe("Ring", () => {
  it("keeps the newest and counts all", () => {
    const ring = new Ring<number>(3);
    for (const item of [1, 2, 3, 4, 5]) ring.push(item);
    expect(ring.total).toBe(5);
    expect(ring.length).toBe(3);
    expect([0, 1, 2, 3].map((index) => ring.newest(index))).toEqual([5, 4, 3, undefined]);
  });
});
