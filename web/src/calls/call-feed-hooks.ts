import { useEffect, useMemo, useSyncExternalStore } from "react";

import { api, bodyOf } from "../api/client";
import { useCallChanges } from "./call-changes";
import { CallFeed, type FeedState } from "./call-feed";

/** The calls that fit; it follows what happens while it is shown. */
export function useCallFeed(filter: string, session: string, isStopped: boolean): CallFeed {
  // biome-ignore lint/correctness/useExhaustiveDependencies: whether one is selected counts at first only
  const feed = useMemo(() => {
    const search = { ...(filter ? { filter } : {}), ...(session ? { session } : {}) };
    const made = new CallFeed((query) =>
      bodyOf(api.GET("/api/calls", { params: { query: { ...search, ...query } } })),
    );
    if (isStopped) made.stop();
    return made;
  }, [filter, session]);
  useEffect(() => void feed.start(), [feed]);
  useCallChanges(() => void feed.catchUp());
  return feed;
}

/** What a feed knows now. */
export const useFeedState = (feed: CallFeed): FeedState =>
  useSyncExternalStore(feed.subscribe, feed.getState);
