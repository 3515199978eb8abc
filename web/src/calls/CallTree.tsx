import { useEffect, useMemo } from "react";

import { Panel } from "../ui/parts";
import { CallsEmptyState } from "./CallsEmptyState";
import { CallTreeRows } from "./CallTreeRows";
import type { CallFeed } from "./call-feed";
import { useFeedState } from "./call-feed-hooks";
import { TailButton } from "./TailButton";
import { listTopCalls } from "./tree-rows";

interface CallTreeProps {
  feed: CallFeed;
  isFiltered: boolean;
  selected: string;
  onSelect: (id: string) => void;
}

/** The calls, each under the call that made it. */
export function CallTree({ feed, isFiltered, selected, onSelect }: CallTreeProps) {
  const state = useFeedState(feed);
  const top = useMemo(() => listTopCalls(state.calls, isFiltered), [state.calls, isFiltered]);
  useEffect(() => {
    // A page may have only calls within other calls; the roots are further down.
    if (!top.length && state.hasOlder && !state.isLooking) void feed.loadOlder();
  }, [feed, top.length, state.hasOlder, state.isLooking]);
  return (
    <Panel title="Calls by caller" className="fill" aside={<TailButton feed={feed} />}>
      {top.length ? (
        <CallTreeRows
          top={top}
          selected={selected}
          onSelect={onSelect}
          onScroll={(above) => above > 0 && feed.stop()}
          onEnd={() => void feed.loadOlder()}
        />
      ) : (
        <CallsEmptyState state={state} />
      )}
    </Panel>
  );
}
