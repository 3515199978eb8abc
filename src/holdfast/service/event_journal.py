"""A session's numbered events: the newest in memory, all of them in the store."""

from __future__ import annotations

import time
from collections import deque
from typing import Any

from holdfast.model.records import EventRecord
from holdfast.service.event_stream import EventStream
from holdfast.store import Feed
from holdfast.wire import rest
from holdfast.wire.session_answers import Event, EventList

_IN_MEMORY = 1000
_MAX_READS = 50


class EventJournal:
    def __init__(self, session_id: str, feed: Feed, stream: EventStream, last_seq: int = 0) -> None:
        self._session_id = session_id
        self._stream = stream
        self._feed = feed
        self._recent: deque[EventRecord] = deque(maxlen=_IN_MEMORY)
        self._seq = last_seq

    @property
    def seq(self) -> int:
        return self._seq

    def add(self, kind: str, /, **body: Any) -> EventRecord:
        self._seq += 1
        event = EventRecord(self._session_id, self._seq, time.time(), kind, body)
        self._recent.append(event)
        self._feed.append(event)
        self._stream.add(self._session_id, event.seq, kind)
        return event

    async def read_after(self, since: int, limit: int) -> list[EventRecord]:
        """The first `limit` events with a number above `since`."""
        if since >= self._seq:
            return []
        if self._recent and self._recent[0].seq <= since + 1:
            return [event for event in self._recent if event.seq > since][:limit]
        return await self._feed.read(self._session_id, after=since, limit=limit)

    async def page(self, since: int, limit: int, types: frozenset[str] | None = None) -> EventList:
        """Events after `since`, of these types, as clients see them. Looks at a bounded number."""
        events: list[Event] = []
        last = since
        for _ in range(1 if types is None else _MAX_READS):
            records = await self.read_after(last, limit)
            for record in records:
                if len(events) == limit:
                    break
                last = record.seq
                if types is None or record.type in types:
                    events.append(rest.event(record))
            if len(records) < limit or len(events) == limit:
                break
        return EventList(events, last, last < self._seq)
