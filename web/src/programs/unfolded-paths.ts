import { useSyncExternalStore } from "react";

/**
 * Which values are unfolded, by path and never by reference: a reference is good for one stop, a path
 * for all of them. It outlives a reload.
 */
export class UnfoldedPaths {
  private paths: ReadonlySet<string>;
  private readonly watchers = new Set<() => void>();

  constructor(
    private readonly key: string,
    private readonly storage: Pick<Storage, "getItem" | "setItem">,
  ) {
    this.paths = new Set(JSON.parse(storage.getItem(key) ?? "[]") as string[]);
  }

  readonly get = (): ReadonlySet<string> => this.paths;
  readonly subscribe = (watcher: () => void): (() => void) => {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  };

  set(path: string, isUnfolded: boolean): void {
    const next = new Set(this.paths);
    if (isUnfolded) next.add(path);
    else next.delete(path);
    this.paths = next;
    this.storage.setItem(this.key, JSON.stringify([...next]));
    for (const watcher of this.watchers) watcher();
  }
}

const stores = new Map<string, UnfoldedPaths>();

function storeOf(session: string): UnfoldedPaths {
  const store = stores.get(session) ?? new UnfoldedPaths(`holdfast.unfolded.${session}`, sessionStorage);
  stores.set(session, store);
  return store;
}

/** The unfolded paths of a session, and how to change them. */
export function useUnfoldedPaths(
  session: string,
): [ReadonlySet<string>, (path: string, isUnfolded: boolean) => void] {
  const store = storeOf(session);
  return [useSyncExternalStore(store.subscribe, store.get), (path, is) => store.set(path, is)];
}
