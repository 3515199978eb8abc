import type { Schemas } from "../api/client";
import { authorization } from "../api/token";
import { SseParser } from "./sse-parser";

export type Event = Schemas["Event"] & Record<string, unknown>;

/** What the stream says: the messages of `GET /api/stream`, and whether it is connected. */
export type StreamMessage =
  | { kind: "hello"; resumed: boolean }
  | { kind: "events"; events: Event[]; missed: boolean }
  | { kind: "changes"; sessions: Record<string, SessionChange>; gone: string[] }
  | { kind: "connection"; connected: boolean };

export interface SessionChange {
  status: string;
  calls?: number;
  output?: string;
}

type Listener = (message: StreamMessage) => void;

const NAME = "holdfast.stream";
const FIRST_PAUSE = 250;
const LONGEST_PAUSE = 2_000;
const HISTORY = 500;

/**
 * Everything that happens, over one connection for all tabs. Browsers open six connections to a server,
 * and a stream takes one of them for good, so the tab that has the lock reads and passes messages on.
 * When it is closed, the next tab goes on from the cursor that it heard last. Where there are no locks
 * (plain HTTP beyond loopback) each tab reads for itself.
 */
export class EventStream {
  private cursor: string | null = null;
  private connected: boolean | null = null;
  private readonly listeners = new Set<Listener>();
  private readonly channel = new BroadcastChannel(NAME);

  listen(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Start to listen. The result is what happened before; the stream goes on where that ends. */
  start(): Promise<Event[]> {
    this.channel.onmessage = ({ data }: MessageEvent<ChannelMessage>) => this.hear(data);
    const history = this.readHistory();
    const lead = async () => {
      await history.catch(() => undefined);
      await this.readForever();
    };
    if (navigator.locks) {
      void navigator.locks.request(NAME, lead);
      this.channel.postMessage({ question: "connected?" });
    } else void lead();
    return history;
  }

  private hear(data: ChannelMessage): void {
    if ("question" in data) {
      // A tab was opened. Only the tab that reads knows whether there is a connection.
      if (this.connected !== null) this.pass({ kind: "connection", connected: this.connected });
      return;
    }
    this.cursor = data.cursor ?? this.cursor;
    this.tell(data.message);
  }

  private async readHistory(): Promise<Event[]> {
    const answer = await fetch(`/api/events?limit=${HISTORY}`, { headers: authorization() });
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    const { events, cursor } = (await answer.json()) as { events: Event[]; cursor: string };
    this.cursor ??= cursor;
    return events;
  }

  private tell(message: StreamMessage): void {
    for (const listener of this.listeners) listener(message);
  }

  private pass(message: StreamMessage): void {
    this.channel.postMessage({ message, cursor: this.cursor } satisfies ChannelMessage);
  }

  private say(message: StreamMessage): void {
    if (message.kind === "connection") this.connected = message.connected;
    this.tell(message);
    this.pass(message);
  }

  private async readForever(): Promise<never> {
    let pause = FIRST_PAUSE;
    for (;;) {
      const opened = () => {
        pause = FIRST_PAUSE;
      };
      await this.readConnection(opened).catch(() => undefined); // the server may come back
      this.say({ kind: "connection", connected: false });
      await new Promise((resolve) => setTimeout(resolve, pause * (0.5 + Math.random())));
      pause = Math.min(pause * 2, LONGEST_PAUSE);
    }
  }

  private async readConnection(opened: () => void): Promise<void> {
    const from = this.cursor ? `?cursor=${encodeURIComponent(this.cursor)}` : "";
    const headers = { accept: "text/event-stream", ...authorization() };
    const answer = await fetch(`/api/stream${from}`, { headers, cache: "no-store" });
    if (!answer.ok || !answer.body) throw new Error(`status ${answer.status}`);
    opened();
    this.say({ kind: "connection", connected: true });
    const parser = new SseParser();
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      for (const { id, event, data } of parser.push(value)) {
        if (id) this.cursor = id;
        this.say({ kind: event, ...(JSON.parse(data) as object) } as StreamMessage);
      }
    }
  }
}

type ChannelMessage = { message: StreamMessage; cursor: string | null } | { question: string };

export const eventStream = new EventStream();
