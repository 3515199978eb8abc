import { useSyncExternalStore } from "react";

import { type Event, eventStream } from "./event-stream";
import { Ring } from "./ring";

const KEPT = 20_000;
const HIDDEN_PAUSE = 1_000;

/** The latest events. Views are told at most once a frame, however many arrive. */
export class EventStore {
  readonly events = new Ring<Event>(KEPT);
  connected = false;
  /** How often views were told; tests and benchmarks read it. */
  version = 0;
  private isScheduled = false;
  private readonly watchers = new Set<() => void>();
  private readonly lastSeq = new Map<string, number>();
  /** What arrived before the history did. */
  private early: Event[][] | null = [];

  begin(history: Event[]): void {
    const early = this.early ?? [];
    this.early = null;
    for (const events of [history, ...early]) this.add(events);
  }

  add(events: Event[]): void {
    if (this.early) {
      this.early.push(events);
      return;
    }
    for (const event of events) {
      if ((this.lastSeq.get(event.session_id) ?? 0) >= event.seq) continue; // it came twice
      this.lastSeq.set(event.session_id, event.seq);
      if (event.type !== "state_snapshot") this.events.push(event); // twice a second, and nothing new
    }
    this.schedule();
  }

  setConnected(connected: boolean): void {
    this.connected = connected;
    this.schedule();
  }

  private schedule(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    const show = () => {
      this.isScheduled = false;
      this.version += 1;
      for (const watcher of this.watchers) watcher();
    };
    if (document.hidden)
      setTimeout(show, HIDDEN_PAUSE); // a hidden tab has no frames
    else requestAnimationFrame(show);
  }

  readonly subscribe = (watcher: () => void): (() => void) => {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  };
  readonly getVersion = (): number => this.version;
}

export const eventStore = new EventStore();

/** Let the store follow the stream. */
export function startEventStore(): void {
  eventStream.listen((message) => {
    if (message.kind === "connection") eventStore.setConnected(message.connected);
    else if (message.kind === "events") eventStore.add(message.events);
  });
  void eventStream.start().then(
    (history) => eventStore.begin(history),
    () => eventStore.begin([]),
  );
}

/** The store; the component renders again when something arrived, at most once a frame. */
export function useEventStore(): EventStore {
  useSyncExternalStore(eventStore.subscribe, eventStore.getVersion);
  return eventStore;
}
