import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";

import type { Schemas } from "../api/client";
import { Panel } from "../ui/parts";
import { ConversationRow, type RowActions } from "./ConversationRow";
import { buildRows } from "./conversation-rows";

interface ConversationProps {
  run: Schemas["RunConversation"];
  title: string;
  /** Whether the end is what one wants to see first. */
  followsEnd: boolean;
  actions: Omit<RowActions, "onFold">;
  /** The end is in sight again, or no more. */
  onEnd: (isAtEnd: boolean) => void;
  onEarlier: () => void;
  onLater: () => void;
}

const NEAR_END = 48;

/** A run as a conversation. It follows the end until somebody scrolls, and then says what is new. */
export function Conversation({
  run,
  title,
  followsEnd,
  actions,
  onEnd,
  onEarlier,
  onLater,
}: ConversationProps) {
  const wanted = useRef<string | null>(null); // the row that is to be on top once other turns are here
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const rows = useMemo(() => buildRows(run.turns, run.lanes, folded), [run, folded]);
  const scroller = useRef<HTMLDivElement>(null);
  const [isAtEnd, setAtEnd] = useState(followsEnd);
  const [seen, setSeen] = useState(rows.length);
  const onFold = (key: string) =>
    setFolded(
      (before) => new Set(before.has(key) ? [...before].filter((each) => each !== key) : [...before, key]),
    );
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 64,
    getItemKey: (index) => rows[index]?.key ?? index,
    overscan: 8,
  });
  const leaveOrReachEnd = (next: boolean) => {
    if (next === isAtEnd) return;
    setAtEnd(next);
    onEnd(next);
  };
  const follows = followsEnd && isAtEnd;
  const height = list.getTotalSize();
  const lastTop = useRef(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it follows when rows come, and when they are measured
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!follows || !element) return;
    const most = element.scrollHeight - element.clientHeight;
    // Somebody may have scrolled up just now, before the event of it came.
    if (element.scrollTop < Math.min(lastTop.current, most) - NEAR_END) leaveOrReachEnd(false);
    else {
      element.scrollTop = most;
      lastTop.current = element.scrollTop;
    }
  }, [follows, rows, height]);
  const firstKey = rows[0]?.key;
  // biome-ignore lint/correctness/useExhaustiveDependencies: other turns begin with another row
  useLayoutEffect(() => {
    if (wanted.current === null) return;
    list.scrollToIndex(
      Math.max(
        0,
        rows.findIndex((row) => row.key === wanted.current),
      ),
      { align: "start" },
    );
    wanted.current = null;
  }, [firstKey]);
  useEffect(() => {
    if (isAtEnd) setSeen(rows.length);
  }, [isAtEnd, rows.length]);
  const checkEnd = (element: HTMLElement) =>
    leaveOrReachEnd(element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_END);
  const fresh = rows.length - seen;
  const goToEnd = () => {
    lastTop.current = 0;
    leaveOrReachEnd(true);
    list.scrollToIndex(rows.length - 1, { align: "end" });
  };
  return (
    <Panel title={title} className="conversation" aside={<TurnCount run={run} />}>
      {run.has_earlier ? (
        <button
          type="button"
          className="quiet"
          onClick={() => {
            wanted.current = firstKey ?? "";
            onEarlier();
          }}
        >
          Show earlier turns
        </button>
      ) : null}
      <div
        className="fill"
        ref={scroller}
        tabIndex={0}
        role="group"
        aria-label="Turns"
        onScroll={(event) => checkEnd(event.currentTarget)}
      >
        <div className="talk" role="list" style={{ height }}>
          {list.getVirtualItems().map((item) => {
            const row = rows[item.index];
            if (!row) return null;
            return (
              <div
                role="listitem"
                key={item.key}
                ref={list.measureElement}
                data-index={item.index}
                aria-setsize={rows.length}
                aria-posinset={item.index + 1}
                style={{
                  transform: `translateY(${item.start}px)`,
                  paddingLeft: `${0.75 + row.depth * 1.4}rem`,
                }}
              >
                <ConversationRow row={row} actions={{ ...actions, onFold }} />
              </div>
            );
          })}
        </div>
      </div>
      {run.has_more ? (
        <button
          type="button"
          className="quiet"
          onClick={() => {
            wanted.current = "";
            onLater();
          }}
        >
          Show later turns
        </button>
      ) : null}
      {fresh > 0 && !isAtEnd ? (
        <button type="button" className="primary what-is-new" onClick={goToEnd}>
          {fresh} new below
        </button>
      ) : null}
    </Panel>
  );
}

function TurnCount({ run }: { run: Schemas["RunConversation"] }) {
  const shown = run.turns.length;
  const text = shown < run.total_turns ? `${shown} of ${run.total_turns} turns` : `${shown} turns`;
  return <span>{text}</span>;
}
