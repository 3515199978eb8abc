"""The latest events of all sessions, of every kind, in the order in which they reached the server.

Only which events they were is kept; the events themselves are in the journals of their sessions.
"""

from __future__ import annotations

import secrets
from collections import deque
from itertools import islice
from typing import NamedTuple

from holdfast.service.session_changes import SessionChanges
from holdfast.service.waitable import Waitable

KEPT = 50_000
"""How many events are known, at about 120 bytes each."""
_MAX_DIGITS = 20


class EventReference(NamedTuple):
    session_id: str
    seq: int
    type: str


class EventStream(Waitable):
    """`number` counts every event. A cursor is such a number with the id of this server.

    In the live stream a second number follows: how many `changes` of sessions there were.
    """

    def __init__(self) -> None:
        super().__init__()
        self.number = 0
        self._server = secrets.token_hex(4)
        self._latest: deque[EventReference] = deque(maxlen=KEPT)
        self.changes = SessionChanges()

    def add(self, session_id: str, seq: int, kind: str) -> None:
        self.number += 1
        self._latest.append(EventReference(session_id, seq, kind))
        if self._waiters:
            self.wake()
        self.changes.note(session_id)

    def stop_waiting(self) -> None:
        super().stop_waiting()
        self.changes.stop_waiting()

    def format_cursor(self, number: int, change: int | None = None) -> str:
        return f"{self._server}-{number}" + ("" if change is None else f"-{change}")

    def parse_cursor(self, cursor: str) -> int | None:
        """The number in a cursor of this server; None for a cursor of another server."""
        server, _, numbers = cursor.partition("-")
        number = _parse_number(numbers.partition("-")[0])
        is_known = server == self._server and number is not None and number <= self.number
        return number if is_known else None

    def parse_change(self, cursor: str) -> int | None:
        """The number of changes in a cursor of the live stream of this server."""
        change = _parse_number(cursor.rpartition("-")[2]) if cursor.count("-") == 2 else None
        return None if self.parse_cursor(cursor) is None else change

    @property
    def oldest(self) -> int:
        """The number before the oldest event in memory."""
        return self.number - len(self._latest)

    def list_after(self, number: int, limit: int | None = None) -> list[EventReference]:
        """The first `limit` events after that number that are still in memory."""
        skip = max(0, number - self.oldest)
        count = len(self._latest) - skip
        if limit is None or count <= limit:
            # Whoever follows wants the newest few: counted from the end, they are found at once.
            newest = list(islice(reversed(self._latest), max(0, count)))
            newest.reverse()
            return newest
        return list(islice(self._latest, skip, skip + limit))


def _parse_number(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) < _MAX_DIGITS else None
