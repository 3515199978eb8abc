import { formatCount } from "../ui/format";
import { type CallFeed, KEPT } from "./call-feed";
import { useFeedState } from "./call-feed-hooks";

/** Whether the list follows; if not, how many calls came since. */
export function TailButton({ feed }: { feed: CallFeed }) {
  const { isTailing, waiting } = useFeedState(feed);
  const held = waiting.filter((call) => call.hold_id).length;
  const news = `${formatCount(waiting.length)}${waiting.length < KEPT ? "" : "+"} new${held ? `, ${formatCount(held)} held` : ""}`;
  const toggle = () => (isTailing ? feed.stop() : feed.goOn());
  return (
    <button type="button" className="quiet" aria-pressed={!isTailing} onClick={toggle}>
      {isTailing ? "Stop the list" : `Go on (${news})`}
    </button>
  );
}
