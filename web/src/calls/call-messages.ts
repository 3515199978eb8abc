import type { StreamMessage } from "../live/event-stream";

/** Whether a message of the stream says that there may be other calls than before. */
export function concernsCalls(message: StreamMessage): boolean {
  switch (message.kind) {
    case "hello":
      return !message.resumed;
    case "changes":
      return Object.values(message.sessions).some((change) => change.calls !== undefined);
    case "events":
      return message.missed || message.events.some((event) => event.type.startsWith("hold_"));
    case "connection":
      return false;
  }
}
