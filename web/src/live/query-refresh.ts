import type { QueryClient } from "@tanstack/react-query";

import { type Event, eventStream, type StreamMessage } from "./event-stream";

export type QueryKey = string[];

const EVERYTHING: QueryKey[] = [[]];
const HOLD_EVENTS = /^(stopped|continued|hold_|paused|resumed|terminated|session_|expired)/;
const PAUSE = 100;

/** The keys of the queries whose answers a message makes stale. */
export function listStaleKeys(message: StreamMessage): QueryKey[] {
  switch (message.kind) {
    case "hello":
      return message.resumed ? [] : EVERYTHING;
    case "changes":
      return [
        ["sessions"],
        ["holds"],
        ...Object.keys(message.sessions).flatMap((id) => [
          ["session", id],
          ["output", id],
        ]),
        ...(Object.values(message.sessions).some((change) => change.calls !== undefined) ? [["calls"]] : []),
      ];
    case "events":
      return message.missed ? EVERYTHING : listStaleByEvents(message.events);
    case "connection":
      return [];
  }
}

function listStaleByEvents(events: Event[]): QueryKey[] {
  const keys = new Map<string, QueryKey>();
  const add = (...key: QueryKey) => keys.set(key.join("\n"), key);
  for (const { type, session_id } of events) {
    add("sessions");
    add("session", session_id);
    if (HOLD_EVENTS.test(type)) add("holds");
    if (type.startsWith("breakpoint")) add("breakpoints");
    if (type === "function_registered") add("functions");
  }
  return [...keys.values()];
}

/** Ask again for what has changed, in one round per pause: ten thousand events are one refresh. */
export function startQueryRefresh(client: QueryClient): void {
  const waiting = new Map<string, QueryKey>();
  let timer: ReturnType<typeof setTimeout> | null = null;
  const refresh = () => {
    timer = null;
    const keys = [...waiting.values()];
    waiting.clear();
    for (const queryKey of keys) void client.invalidateQueries({ queryKey });
  };
  eventStream.listen((message) => {
    for (const key of listStaleKeys(message)) waiting.set(key.join("\n"), key);
    if (waiting.size && timer === null) timer = setTimeout(refresh, PAUSE);
  });
}
