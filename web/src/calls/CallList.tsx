import { useCallback, useEffect, useState } from "react";

import { useCommand } from "../ui/commands";
import { formatClock, formatDuration } from "../ui/format";
import { Panel, Status } from "../ui/parts";
import { VirtualList } from "../ui/VirtualList";
import { CallsEmptyState } from "./CallsEmptyState";
import { CallTitle, HoldLink } from "./CallTitle";
import type { CallFeed } from "./call-feed";
import { useFeedState } from "./call-feed-hooks";
import { type Call, formatOutcome } from "./call-texts";
import { InlineHelp } from "./InlineHelp";
import { TailButton } from "./TailButton";

interface CallListProps {
  feed: CallFeed;
  /** The id of the call that is shown beside the list. */
  selected: string;
  onSelect: (id: string) => void;
}

/** The calls, the newest on top. It stops when one reads, and counts what is new. */
export function CallList({ feed, selected, onSelect }: CallListProps) {
  const state = useFeedState(feed);
  const { calls } = state;
  const [marked, setMarked] = useState(selected);
  const index = calls.findIndex((call) => call.call_id === (selected || marked));
  const move = (step: number) => {
    const next = calls[Math.min(Math.max(index + step, 0), calls.length - 1)];
    if (!next) return;
    feed.stop();
    setMarked(next.call_id);
    if (selected) onSelect(next.call_id);
  };
  useFocusOnRow(marked);
  useCommand("Next call in the list", "j", () => move(1), calls.length > 0);
  useCommand("Previous call in the list", "k", () => move(-1), calls.length > 0);
  const loadOlder = useCallback(() => void feed.loadOlder(), [feed]);
  const row = (call: Call | undefined) =>
    call ? <CallRow call={call} isSelected={call.call_id === selected} onSelect={onSelect} /> : null;
  const aside = (
    <>
      {calls.some((call) => call.call_type === "inline") ? <InlineHelp className="wide-only" /> : null}
      <TailButton feed={feed} />
    </>
  );
  return (
    <Panel title="Recorded calls" className="fill" aside={aside}>
      {calls.length ? (
        <VirtualList
          label="Recorded calls"
          count={calls.length}
          keyOf={(at) => calls[at]?.call_id ?? at}
          rowHeight={32}
          selected={index}
          onEnd={loadOlder}
          onScroll={(top) => top > 0 && feed.stop()}
          renderRow={(at) => row(calls[at])}
        />
      ) : (
        <CallsEmptyState state={state} />
      )}
    </Panel>
  );
}

/** j and k move the focus, so that Enter opens what they came to. */
function useFocusOnRow(id: string): void {
  useEffect(() => {
    if (!id) return;
    const frame = requestAnimationFrame(() =>
      document.querySelector<HTMLElement>(`[data-call="${CSS.escape(id)}"]`)?.focus({ preventScroll: true }),
    );
    return () => cancelAnimationFrame(frame);
  }, [id]);
}

interface CallRowProps {
  call: Call;
  isSelected: boolean;
  onSelect: (id: string) => void;
}

function CallRow({ call, isSelected, onSelect }: CallRowProps) {
  return (
    <>
      <a
        className={call.hold_id ? "call-row held-row" : "call-row"}
        href={`/calls/${call.call_id}`}
        data-call={call.call_id}
        aria-current={isSelected || undefined}
        onClick={(event) => {
          if (event.ctrlKey || event.metaKey || event.shiftKey) return; // in a tab of its own
          event.preventDefault();
          onSelect(call.call_id);
        }}
      >
        <time dateTime={call.timestamp}>{formatClock(call.timestamp)}</time>
        <CallTitle call={call} />
        <span className={`call-outcome mono cut ${call.status === "exception" ? "bad" : "soft"}`}>
          {formatOutcome(call)}
        </span>
        <span className="call-duration mono soft">{formatDuration(call.duration_ms)}</span>
        {call.hold_id ? null : (
          <span className="call-status">
            <Status of={call.status} />
          </span>
        )}
      </a>
      <HoldLink call={call} />
    </>
  );
}
