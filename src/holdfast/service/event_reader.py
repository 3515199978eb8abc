"""Reads and follows the events of one session, or of all in the order of their arrival."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from holdfast import errors
from holdfast.service.clock import read_clock
from holdfast.service.event_stream import EventReference, EventStream
from holdfast.service.session import Session
from holdfast.service.session_registry import SessionRegistry
from holdfast.wire.session_answers import Event, EventList, LatestEvents

Types = frozenset[str] | None
Numbered = tuple[int, EventReference]
Wants = Callable[[EventReference], bool]
_MAX_LOOKED_AT = 10_000


class EventBatch(NamedTuple):
    """Events, and the number up to which the stream was looked at."""

    events: list[Event]
    number: int


class EventReader:
    def __init__(self, sessions: SessionRegistry, stream: EventStream) -> None:
        self._sessions = sessions
        self._stream = stream

    async def read_session(
        self, session_id: str, since: int, limit: int, types: Types = None, seconds: float = 0.0
    ) -> EventList:
        """A session's events after a number. If there are none, wait for some."""
        session = self._sessions.peek(session_id)
        deadline = read_clock() + seconds
        while True:
            page = await session.read_events(since, limit, types)
            left = deadline - read_clock()
            if page.events or page.has_more or left <= 0:
                return page
            since = page.last_seq
            if not await _wait_for_event(session, since, left):
                return page

    async def read_latest(
        self, cursor: str | None, limit: int, types: Types = None, seconds: float = 0.0
    ) -> LatestEvents:
        """Without a cursor, the newest events. With one, those after it; may wait for some."""
        stream = self._stream
        if cursor is None:
            known = _select_types(stream.list_after(stream.oldest), types, stream.oldest)
            if known or not seconds:
                end = stream.number  # what comes while the events are read comes after this cursor
                events, reached, is_cut = await self._read(known[-limit:], types)
                end = reached if is_cut else end
                return LatestEvents(events, stream.format_cursor(end), is_cut, False)
        place = stream.number if cursor is None else stream.parse_cursor(cursor)
        missed = place is None or place < stream.oldest
        number = stream.oldest if place is None else max(place, stream.oldest)
        known = await self._wait_for_references(number, types, seconds)
        end = stream.number
        events, reached, is_cut = await self._read(known[:limit], types)
        has_more = is_cut or len(known) > limit
        if has_more:
            end = reached
        return LatestEvents(events, stream.format_cursor(end), has_more, missed)

    async def read_batch(
        self, number: int, limit: int, wants: Wants | None, types: Types
    ) -> EventBatch:
        """The first `limit` events after a number that are wanted, and are of these types.

        Looks at a bounded number of events. Those that are not known any more are left out.
        """
        stream = self._stream
        number = max(number, stream.oldest)
        references = stream.list_after(number, max(limit, _MAX_LOOKED_AT))
        end = number + len(references)
        known = _select_types(references, types, number)
        if wants is not None:
            known = [numbered for numbered in known if wants(numbered[1])]
        events, reached, is_cut = await self._read(known[:limit], types)
        return EventBatch(events, reached if is_cut or len(known) > limit else end)

    async def _wait_for_references(
        self, number: int, types: Types, seconds: float
    ) -> list[Numbered]:
        stream = self._stream
        deadline = read_clock() + seconds
        while True:
            known = _select_types(stream.list_after(number), types, number)
            left = deadline - read_clock()
            if known or left <= 0:
                return known
            number = stream.number
            await _wait_for_growth(stream, number, left)
            if stream.stopping or stream.number == number:
                return known

    async def _read(self, wanted: list[Numbered], types: Types) -> tuple[list[Event], int, bool]:
        """The events themselves, the number of the last one, and whether some are left."""
        seqs: dict[str, list[int]] = {}
        for _, mention in wanted:
            seqs.setdefault(mention.session_id, []).append(mention.seq)
        pages: dict[str, EventList] = {}
        for session_id, numbers in seqs.items():
            try:
                session = self._sessions.peek(session_id)
            except errors.SessionNotFound:
                continue  # the session was deleted with its events
            first = min(numbers)
            page = await session.read_events(first - 1, len(numbers), types)
            if page.last_seq >= first:  # else they cannot be read any more
                pages[session_id] = page
        by_number = {
            (session_id, event["seq"]): event
            for session_id, page in pages.items()
            for event in page.events
        }
        events: list[Event] = []
        reached = 0
        for number, mention in wanted:
            event = by_number.get((mention.session_id, mention.seq))
            cut = pages.get(mention.session_id)
            if event is None and cut is not None and mention.seq > cut.last_seq:
                return events, reached, True
            reached = number
            if event is not None:
                events.append(event)
        return events, reached, False


async def _wait_for_event(session: Session, seq: int, seconds: float) -> bool:
    return await session.wait_until(lambda: session.last_seq > seq, seconds)


async def _wait_for_growth(stream: EventStream, number: int, seconds: float) -> bool:
    return await stream.wait_until(lambda: stream.number > number, seconds)


def _select_types(references: list[EventReference], types: Types, first: int) -> list[Numbered]:
    """The events of these types with their numbers. The first event has the number `first + 1`."""
    numbered = enumerate(references, first + 1)
    return [(number, event) for number, event in numbered if types is None or event.type in types]
