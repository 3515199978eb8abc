import { useState } from "react";

import { useEventStore } from "../live/event-store";
import type { Event } from "../live/event-stream";
import { baseName, formatClock, formatCount } from "../ui/format";
import { EmptyState, Panel } from "../ui/parts";
import { VirtualList } from "../ui/VirtualList";
import "./events.css";

/** The newest events of all sessions, newest first. It stops while one reads, and counts what is new. */
export function EventList({ title, matches }: { title: string; matches?: (event: Event) => boolean }) {
  const { events } = useEventStore();
  const [stoppedAt, setStoppedAt] = useState<number | null>(null);
  const newCount = stoppedAt === null ? 0 : events.total - stoppedAt;
  const shown: Event[] | null = matches ? listMatching(events, newCount, matches) : null;
  const count = shown ? shown.length : Math.max(0, events.length - newCount);
  const eventAt = (index: number) => (shown ? shown[index] : events.newest(index + newCount));
  const toggle = () => setStoppedAt(stoppedAt === null ? events.total : null);
  const stopWhenScrolled = (top: number) => {
    if (top > 0 && stoppedAt === null) setStoppedAt(events.total);
  };
  const button = (
    <button type="button" className="quiet" aria-pressed={stoppedAt !== null} onClick={toggle}>
      {stoppedAt === null ? "Stop the list" : `Go on (${formatCount(newCount)} new)`}
    </button>
  );
  return (
    <Panel title={title} className="fill" aside={button}>
      {count ? (
        <VirtualList
          label={title}
          count={count}
          onScroll={stopWhenScrolled}
          renderRow={(index) => <EventRow event={eventAt(index)} />}
        />
      ) : (
        <EmptyState>{matches ? "No event fits yet." : "What happens from now on appears here."}</EmptyState>
      )}
    </Panel>
  );
}

type Events = ReturnType<typeof useEventStore>["events"];

function listMatching(events: Events, skip: number, matches: (event: Event) => boolean): Event[] {
  const found: Event[] = [];
  for (let index = skip; index < events.length; index++) {
    const event = events.newest(index);
    if (event && matches(event)) found.push(event);
  }
  return found;
}

function EventRow({ event }: { event: Event | undefined }) {
  if (!event) return null;
  return (
    <>
      <time>{formatClock(event.timestamp)}</time>
      <span className="event-type" title={event.type}>
        {event.type}
      </span>
      <span className="cut soft">{describeEvent(event)}</span>
    </>
  );
}

/** The facts of an event that tell it from others of its type. */
export function describeEvent(event: Event): string {
  const data = (event.data ?? event) as Record<string, unknown>;
  const place = event.location as { file: string; line: number } | null | undefined;
  const facts = [
    place ? `${baseName(place.file)}:${place.line}` : null,
    data.name ?? data.method_name ?? data.function,
    data.action,
    data.reason,
  ];
  return facts.filter((fact) => typeof fact === "string" && fact).join(" · ") || event.session_id;
}
