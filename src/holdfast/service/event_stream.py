"""The latest events of all sessions, of every kind, in the order in which they reached the server.

Only which events they were is kept; the events themselves are in the journals of their sessions.
"""

from __future__ import annotations

import secrets
from collections import deque
from itertools import islice
from typing import NamedTuple

from holdfast.service.waitable import Waitable

_KEPT = 20_000


class EventReference(NamedTuple):
    session_id: str
    seq: int
    type: str


class EventStream(Waitable):
    """`number` counts every event. A cursor is such a number with the id of this server."""

    def __init__(self) -> None:
        super().__init__()
        self.number = 0
        self._server = secrets.token_hex(4)
        self._latest: deque[EventReference] = deque(maxlen=_KEPT)

    def add(self, session_id: str, seq: int, kind: str) -> None:
        self.number += 1
        self._latest.append(EventReference(session_id, seq, kind))
        if self._waiters:
            self.wake()

    def format_cursor(self, number: int) -> str:
        return f"{self._server}-{number}"

    def parse_cursor(self, cursor: str) -> int | None:
        """The number in a cursor of this server; None for a cursor of another server."""
        server, _, number = cursor.partition("-")
        if server != self._server or not number.isdecimal() or int(number) > self.number:
            return None
        return int(number)

    @property
    def oldest(self) -> int:
        """The number before the oldest event in memory."""
        return self.number - len(self._latest)

    def list_after(self, number: int) -> list[EventReference]:
        """The events after that number that are still in memory."""
        skip = max(0, number - self.oldest)
        return list(islice(self._latest, skip, None))
