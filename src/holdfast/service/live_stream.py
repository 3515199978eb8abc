"""Follows all sessions for one client: what happens in them, and how far they are.

The client pulls. The next message is made when the last one was sent, so a client that does not
read costs no memory; it may miss events, and is told so.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import NamedTuple

from holdfast import errors
from holdfast.service.clock import read_clock
from holdfast.service.event_reader import EventReader, Types
from holdfast.service.event_stream import EventReference, EventStream
from holdfast.service.session import Session
from holdfast.service.session_registry import SessionRegistry
from holdfast.service.waitable import client_disconnected
from holdfast.wire.live_messages import LiveChanges, LiveEvents, LiveHello

_MAX_BATCH = 2000
_GATHER_SECONDS = 0.02  # in which events gather into one message
_CHANGES_SECONDS = 0.25  # between two messages about sessions
_HEARTBEAT_SECONDS = 15.0


class LiveMessage(NamedTuple):
    """A message, and where a client goes on that has got it. A heartbeat has no body."""

    name: str
    body: LiveHello | LiveEvents | LiveChanges | None
    cursor: str


@dataclass(frozen=True)
class LiveFilter:
    """Which events and sessions a client wants; None for all."""

    types: Types = None
    session_id: str | None = None
    kinds: frozenset[str] | None = None


EVERYTHING = LiveFilter()


class LiveStream:
    def __init__(self, sessions: SessionRegistry, stream: EventStream, events: EventReader) -> None:
        self._sessions = sessions
        self._stream = stream
        self._events = events

    def follow(
        self, cursor: str | None = None, wanted: LiveFilter = EVERYTHING
    ) -> AsyncIterator[LiveMessage]:
        """Everything after a cursor, or from now on, until the client disconnects."""
        if wanted.session_id is not None:
            self._sessions.peek(wanted.session_id)  # raises if there is none
        return _Follower(self._sessions, self._stream, self._events, cursor, wanted).run()


class _Follower:
    """One client, and how far it has followed: `_number` events, `_change` changes."""

    def __init__(
        self,
        sessions: SessionRegistry,
        stream: EventStream,
        events: EventReader,
        cursor: str | None,
        wanted: LiveFilter,
    ) -> None:
        self._sessions = sessions
        self._stream = stream
        self._changes = stream.changes
        self._events = events
        self._wanted = wanted
        self._has_filter = wanted.session_id is not None or wanted.kinds is not None
        self._number = stream.number
        self._change = self._changes.count
        self._missed = False
        self._resumed = cursor is not None and self._resume(cursor)
        self._sent_at = read_clock()
        self._changes_due = self._sent_at

    def _resume(self, cursor: str) -> bool:
        """Go on after a cursor. False if something after it is not known any more."""
        number, change = self._stream.parse_cursor(cursor), self._stream.parse_change(cursor)
        if number is None:
            self._missed = True
            return False
        self._number = number
        # A cursor of GET /api/events does not say which changes were seen: all are told again.
        self._change = 0 if change is None else change
        knows_events = number >= self._stream.oldest
        knows_changes = change is None or self._changes.knows_after(change)
        self._missed = not (knows_events and knows_changes)
        return not self._missed

    @property
    def _cursor(self) -> str:
        return self._stream.format_cursor(self._number, self._change)

    async def run(self) -> AsyncIterator[LiveMessage]:
        hello = LiveHello(cursor=self._cursor, resumed=self._resumed)
        yield LiveMessage("hello", hello, hello.cursor)
        while not (client_disconnected() or self._stream.stopping):
            looked = self._changes.count
            for message in (await self._read_events(), self._read_changes(), self._heartbeat()):
                if message is not None:
                    self._sent_at = read_clock()
                    yield message
            if self._number < self._stream.number:
                await asyncio.sleep(0)  # others have their turn between two batches
            else:
                await asyncio.sleep(_GATHER_SECONDS)
                await self._wait_for_change(looked)

    async def _wait_for_change(self, looked: int) -> None:
        """Wait until a session has changed, or a message is due without that."""
        due = self._sent_at + _HEARTBEAT_SECONDS
        if self._change < self._changes.count:
            due = min(due, self._changes_due)
        seconds = max(0.0, due - read_clock())
        await self._changes.wait_until(lambda: self._changes.count > looked, seconds)

    # -- messages ---------------------------------------------------------------------------

    async def _read_events(self) -> LiveMessage | None:
        missed = self._missed or self._number < self._stream.oldest
        wants = self._wants if self._has_filter else None
        batch = await self._events.read_batch(self._number, _MAX_BATCH, wants, self._wanted.types)
        self._number, self._missed = batch.number, False
        if not (batch.events or missed):
            return None
        body = LiveEvents(events=batch.events, missed=missed, cursor=self._cursor)
        return LiveMessage("events", body, body.cursor)

    def _read_changes(self) -> LiveMessage | None:
        now = read_clock()
        if self._change == self._changes.count or now < self._changes_due:
            return None
        changed = self._changes.list_after(self._change)
        self._change, self._changes_due = self._changes.count, now + _CHANGES_SECONDS
        body = LiveChanges(sessions={}, gone=[])
        for session_id in changed:
            self._add_change(body, session_id)
        if not (body.sessions or body.gone):
            return None
        return LiveMessage("changes", body, self._cursor)

    def _add_change(self, body: LiveChanges, session_id: str) -> None:
        if self._wanted.session_id not in (None, session_id):
            return
        session = self._find(session_id)
        if session is None or session.expired:
            body.gone.append(session_id)  # of whatever kind it was, which is not known any more
        elif self._wanted.kinds is None or session.kind.value in self._wanted.kinds:
            body.sessions[session_id] = session.progress()

    def _heartbeat(self) -> LiveMessage | None:
        is_due = read_clock() >= self._sent_at + _HEARTBEAT_SECONDS
        return LiveMessage("heartbeat", None, self._cursor) if is_due else None

    # -- filters ----------------------------------------------------------------------------

    def _wants(self, event: EventReference) -> bool:
        if self._wanted.session_id not in (None, event.session_id):
            return False
        if self._wanted.kinds is None:
            return True
        session = self._find(event.session_id)
        return session is not None and session.kind.value in self._wanted.kinds

    def _find(self, session_id: str) -> Session | None:
        try:
            return self._sessions.peek(session_id)
        except errors.SessionNotFound:
            return None
