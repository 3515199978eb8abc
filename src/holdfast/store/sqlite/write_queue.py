"""What is accepted but not yet committed: the queue between callers and the writer thread."""

from __future__ import annotations

import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from holdfast.store.pending_write import PendingWrite

MAX_EVENTS = 100_000
MAX_BYTES = 64 * 1024 * 1024
GATHER_SECONDS = 0.02


class EventRow(NamedTuple):
    """An event as the events table holds it."""

    session_id: str
    seq: int
    at: float
    type: str
    body: str


@dataclass(frozen=True, eq=False)
class Write:
    """An operation that can be run again if its transaction is lost, and who waits for it."""

    run: Callable[[sqlite3.Connection], None]
    future: PendingWrite = field(default_factory=PendingWrite)
    # A session deleted by this write: its events need not be kept any more.
    forgets: str | None = None
    # Nobody waits for it. So it may be committed together with what comes next, and its commit
    # waits until it is on the disk.
    lazy: bool = False


Item = Write | EventRow


class WriteQueue:
    """A queue in order of arrival, bounded for events.

    Events count as pending until they are settled, not until they are taken, so that a reader
    finds each event here or in the database at any moment.
    """

    def __init__(self, max_events: int = MAX_EVENTS, max_bytes: int = MAX_BYTES) -> None:
        self._max_events = max_events
        self._max_bytes = max_bytes
        self._changed = threading.Condition()
        self._items: deque[Item] = deque()
        self._writes = 0
        self._last_write: PendingWrite | None = None
        self._pending: dict[str, dict[int, EventRow]] = {}
        self._pending_events = 0
        self._pending_bytes = 0
        self._closed = False
        self._dropped = 0

    @property
    def dropped(self) -> int:
        return self._dropped

    @property
    def last_write(self) -> PendingWrite | None:
        return self._last_write

    def put_write(self, write: Write) -> bool:
        """Queue a write; False when closed."""
        with self._changed:
            if self._closed:
                return False
            if write.lazy:
                if not self._items:
                    self._changed.notify_all()
                self._items.append(write)
                return True
            self._items.append(write)
            self._writes += 1
            self._last_write = write.future
            self._changed.notify_all()
            return True

    def put_event(self, row: EventRow, *, may_block: bool = True) -> bool:
        """Queue an event, waiting for room; False when closed."""
        with self._changed:
            if may_block and self._is_full():
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._closed or not self._is_full())
            if self._closed:
                return False
            if not self._items:
                self._changed.notify_all()
            self._items.append(row)
            self._pending.setdefault(row.session_id, {})[row.seq] = row
            self._pending_events += 1
            self._pending_bytes += len(row.body)
            return True

    def take(self, limit: int, *, patience: float | None = None) -> list[Item] | None:
        """Up to `limit` items, waiting for the first; None when closed and empty.

        With patience, wait that long for something that cannot wait: a write, lack of room, the
        end. Then take whatever is there, possibly nothing.
        """
        with self._changed:
            if patience is None:
                self._changed.wait_for(lambda: self._items or self._closed)
                # Events come in groups, and a request that caused one is being answered now.
                # Writing a moment later does not delay that answer.
                self._changed.wait_for(self._is_urgent, timeout=GATHER_SECONDS)
            else:
                self._changed.wait_for(self._is_urgent, timeout=patience)
            if not self._items and self._closed:
                return None
            taken = [self._items.popleft() for _ in range(min(limit, len(self._items)))]
            self._writes -= sum(isinstance(item, Write) and not item.lazy for item in taken)
            return taken

    def settle(self, rows: Iterable[EventRow]) -> None:
        """These are in the database now, or are no longer wanted."""
        with self._changed:
            for row in rows:
                self._settle(row)
            self._changed.notify_all()

    def drop(self, rows: list[EventRow]) -> None:
        """Give these up, and count them."""
        with self._changed:
            self._dropped += len(rows)
        self.settle(rows)

    def refuse_event(self) -> None:
        """Count an event that was never queued."""
        with self._changed:
            self._dropped += 1

    def list_pending(self, session_id: str) -> list[EventRow]:
        with self._changed:
            return list(self._pending.get(session_id, {}).values())

    def last_pending_seq(self, session_id: str) -> int:
        with self._changed:
            return max(self._pending.get(session_id, {}), default=0)

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _is_full(self) -> bool:
        return self._pending_events >= self._max_events or self._pending_bytes >= self._max_bytes

    def _is_urgent(self) -> bool:
        return self._closed or self._writes > 0 or self._is_full()

    def _settle(self, row: EventRow) -> None:
        self._pending_events -= 1
        self._pending_bytes -= len(row.body)
        session = self._pending.get(row.session_id, {})
        # Another row may have been queued under the same seq since.
        if session.get(row.seq) is row:
            del session[row.seq]
            if not session:
                del self._pending[row.session_id]
