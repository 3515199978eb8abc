/** One message of a stream of server-sent events. */
export interface SseMessage {
  id: string | null;
  event: string;
  data: string;
}

/** Cuts the text of a stream into messages. An incomplete one waits for the next piece. */
export class SseParser {
  private rest = "";

  push(text: string): SseMessage[] {
    const blocks = (this.rest + text).split("\n\n");
    this.rest = blocks.pop() ?? "";
    return blocks.map(parseBlock).filter((message) => message !== null);
  }
}

function parseBlock(block: string): SseMessage | null {
  const message: SseMessage = { id: null, event: "message", data: "" };
  const data: string[] = [];
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon); // a comment has the empty name
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "id") message.id = value;
    else if (name === "event") message.event = value;
    else if (name === "data") data.push(value);
  }
  return data.length ? { ...message, data: data.join("\n") } : null;
}
