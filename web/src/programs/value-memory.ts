/** What was seen of a value: at which stop, and what it was before that. */
interface SeenValue {
  stop: string;
  text: string;
  before: string | undefined;
}

/** Remembers values by their paths from stop to stop, to tell which of them changed. */
export class ValueMemory {
  private readonly seen = new Map<string, SeenValue>();
  /** The stops at which something inside a path was seen: what is new there has changed. */
  private readonly places = new Map<string, { stop: string; isKnown: boolean }>();

  /** Note a value at a stop; whether it is another one than at the stop before. */
  note(place: string, path: string, stop: string, text: string): boolean {
    const isKnownPlace = this.notePlace(place, stop);
    const last = this.seen.get(path);
    if (!last) {
      this.seen.set(path, { stop, text, before: undefined });
      return isKnownPlace;
    }
    if (last.stop !== stop) {
      this.seen.set(path, { stop, text, before: last.text });
      return last.text !== text;
    }
    last.text = text; // it was set by hand
    return last.before === undefined ? isKnownPlace : last.before !== text;
  }

  private notePlace(place: string, stop: string): boolean {
    const last = this.places.get(place);
    if (last?.stop === stop) return last.isKnown;
    this.places.set(place, { stop, isKnown: last !== undefined });
    return last !== undefined;
  }
}

const memories = new Map<string, ValueMemory>();

/** The memory of a session's values, for as long as the page is open. */
export function memoryOf(session: string): ValueMemory {
  const memory = memories.get(session) ?? new ValueMemory();
  memories.set(session, memory);
  return memory;
}
