import { useSyncExternalStore } from "react";

import type { Variable } from "./program-state";

/** Something that was evaluated, and what came of it. */
export interface ConsoleEntry {
  number: number;
  expression: string;
  hold: string;
  frame: number;
  result?: Variable;
  problem?: unknown;
}

const KEPT = 500;

/** The console of a session. It outlives the tab in which it is shown. */
class ConsoleEntries {
  private entries: ConsoleEntry[] = [];
  private count = 0;
  private readonly watchers = new Set<() => void>();

  readonly get = (): ConsoleEntry[] => this.entries;
  readonly subscribe = (watcher: () => void): (() => void) => {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  };
  readonly add = (entry: Omit<ConsoleEntry, "number">): void => {
    this.count += 1;
    this.change([...this.entries.slice(1 - KEPT), { ...entry, number: this.count }]);
  };
  readonly clear = (): void => this.change([]);

  private change(entries: ConsoleEntry[]): void {
    this.entries = entries;
    for (const watcher of this.watchers) watcher();
  }
}

const consoles = new Map<string, ConsoleEntries>();

/** The entries of a session's console, how to add one, and how to clear it. */
export function useConsoleEntries(
  session: string,
): [ConsoleEntry[], (entry: Omit<ConsoleEntry, "number">) => void, () => void] {
  const store = consoles.get(session) ?? new ConsoleEntries();
  consoles.set(session, store);
  return [useSyncExternalStore(store.subscribe, store.get), store.add, store.clear];
}
