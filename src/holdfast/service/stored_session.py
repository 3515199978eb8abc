"""A session whose events the server itself writes, to the store: a program's, or that of calls."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from holdfast.service.event_journal import EventJournal
from holdfast.service.event_stream import EventStream
from holdfast.service.session import Session
from holdfast.service.session_observer import ObserverList, SessionObserver
from holdfast.store import Store
from holdfast.wire.session_answers import EventList


class StoredSession(Session):
    """The bell of the store wakes whoever waits for its events.

    `last_seq` is the number of the last event that an earlier server stored.
    """

    def __init__(
        self,
        session_id: str,
        store: Store,
        stream: EventStream,
        created_at: float | None = None,
        last_seq: int = 0,
    ) -> None:
        super().__init__()
        self.id = session_id
        self.created_at = time.time() if created_at is None else created_at
        self._stream = stream
        self._journal = EventJournal(session_id, store.feed, stream, last_seq)
        self.observers = ObserverList()
        self.stop_listening = store.bell.subscribe(session_id, self.wake)

    def event(self, kind: str, /, **body: Any) -> None:
        event = self._journal.add(kind, **body)
        for observer in self.observers:
            observer.on_event(event)

    def observe(self, observer: SessionObserver) -> Callable[[], None]:
        """Tell an observer what happens from now on. The function that is returned ends that."""
        return self.observers.add(observer)

    def note_change(self) -> None:
        """Say that a list would show it differently now, though there was no event."""
        self._stream.changes.note(self.id)

    def close(self) -> None:
        """The session is gone, and nothing more happens in it."""
        self.stop_listening()
        self.note_change()
        for observer in self.observers:
            observer.on_closed()

    @property
    def last_seq(self) -> int:
        return self._journal.seq

    async def read_events(
        self, since: int, limit: int, types: frozenset[str] | None = None
    ) -> EventList:
        return await self._journal.page(since, limit, types)
