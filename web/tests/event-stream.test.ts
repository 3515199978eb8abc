import { beforeEach, describe, expect, it, vi } from "vitest";

import type { StreamMessage } from "../src/live/event-stream";

const encode = (text: string) => new TextEncoder().encode(text);

/** An answer that sends these texts, and then ends. */
const streamed = (...texts: string[]) =>
  new Response(
    new ReadableStream({
      start(controller) {
        for (const text of texts) controller.enqueue(encode(text));
        controller.close();
      },
    }),
  );

beforeEach(() => {
  vi.resetModules();
  Object.assign(globalThis, {
    location: { hash: "", origin: "http://localhost" },
    sessionStorage: { getItem: () => null },
    BroadcastChannel: class {
      onmessage = null;
      postMessage() {}
    },
  });
  Object.defineProperty(globalThis, "navigator", { value: {}, configurable: true });
});

describe("EventStream", () => {
  it("goes on after the last event that it saw when the connection breaks", async () => {
    const asked: string[] = [];
    const answers = [
      () => Response.json({ events: [], cursor: "s-3" }),
      () =>
        streamed(
          'event: hello\ndata: {"resumed":true}\n\n',
          'id: s-5\nevent: events\ndata: {"events":[],"mis',
          'sed":false}\n\n',
        ),
      () => streamed('id: s-6\nevent: events\ndata: {"events":[],"missed":false}\n\n'),
    ];
    globalThis.fetch = (async (url: string) => {
      asked.push(url);
      const answer = answers.shift();
      return answer ? answer() : new Promise(() => {});
    }) as unknown as typeof fetch;
    const { EventStream } = await import("../src/live/event-stream");
    const stream = new EventStream();
    const messages: StreamMessage[] = [];
    stream.listen((message) => messages.push(message));
    await stream.start();
    await vi.waitFor(() => expect(asked).toHaveLength(4), { timeout: 5_000 });
    expect(asked).toEqual([
      "/api/events?limit=500",
      "/api/stream?cursor=s-3",
      "/api/stream?cursor=s-5",
      "/api/stream?cursor=s-6",
    ]);
    expect(messages.map((message) => message.kind)).toEqual([
      ...["connection", "hello", "events", "connection"],
      ...["connection", "events", "connection"],
    ]);
  });
});
