"""Events in SQLite. Nobody waits for them, so readers merge queued and stored events."""

from __future__ import annotations

from collections.abc import Collection

from holdfast.model.records import EventRecord
from holdfast.store.interface import Bell
from holdfast.store.sqlite.database import Database
from holdfast.store.sqlite.document_codec import decode_object, encode_object
from holdfast.store.sqlite.document_tables import EVENTS, check_text
from holdfast.store.sqlite.reader_pool import Row
from holdfast.store.sqlite.write_queue import EventRow
from holdfast.store.store_errors import StoreProblem


class SqliteFeed:
    def __init__(self, database: Database, bell: Bell) -> None:
        self._database = database
        self._writer = database.writer
        self._bell = bell

    @property
    def dropped_events(self) -> int:
        return self._writer.queue.dropped

    def append(self, event: EventRecord) -> None:
        try:
            body = encode_object(event.body)
        except StoreProblem as problem:
            self._writer.refuse(event.session_id, event.seq, event.type, problem)
        else:
            row = EventRow(event.session_id, event.seq, event.at, event.type, body)
            self._writer.append(row)
        self._bell.ring(event.session_id)

    async def read(
        self,
        session_id: str,
        after: int = 0,
        limit: int = 1000,
        types: Collection[str] | None = None,
    ) -> list[EventRecord]:
        return await self._database.run(self._read, session_id, after, limit, types)

    async def last_seq(self, session_id: str) -> int:
        return await self._database.run(self._last_seq, session_id)

    def _read(
        self, session_id: str, after: int, limit: int, types: Collection[str] | None
    ) -> list[EventRecord]:
        # In this order, because an event committed meanwhile is then read twice, not missed.
        queued = self._writer.queue.list_pending(session_id)
        events = {
            row.seq: _build_queued(row)
            for row in queued
            if row.seq > after and (types is None or row.type in types)
        }
        for event in self._read_stored(session_id, after, limit, types):
            events[event.seq] = event
        return [events[seq] for seq in sorted(events)[: max(limit, 0)]]

    def _read_stored(
        self, session_id: str, after: int, limit: int, types: Collection[str] | None
    ) -> list[EventRecord]:
        """Up to `limit` sound events. A short page means the end, so damaged ones do not count."""
        some = "" if types is None else f"AND type IN ({', '.join('?' * len(types))})"
        sql = f"{EVENTS.select} WHERE session_id = ? AND seq > ? {some} ORDER BY seq LIMIT ?"
        events: list[EventRecord] = []
        while (missing := limit - len(events)) > 0:
            page = self._database.rows(sql, (session_id, after, *(types or ()), missing))
            events += self._database.build(EVENTS, page, _build_stored)
            if len(page) < missing:
                break
            after = page[-1][1]
        return events

    def _last_seq(self, session_id: str) -> int:
        queued = self._writer.queue.last_pending_seq(session_id)
        sql = "SELECT max(seq) FROM events WHERE session_id = ?"
        return max(queued, self._database.rows(sql, (session_id,))[0][0] or 0)


def _build_stored(row: Row) -> EventRecord:
    session_id, seq, at, event_type, body = row
    return EventRecord(session_id, int(seq), float(at), check_text(event_type), decode_object(body))


def _build_queued(row: EventRow) -> EventRecord:
    return EventRecord(row.session_id, row.seq, row.at, row.type, decode_object(row.body.encode()))
