"""How many connections there are, and which of them goes when there are too many.

Every connection takes a file descriptor, and the server needs some for its programs and files. So
connections may have half of them. Beyond that, the connection that was idle for longest is closed
for each new one: its client opens another when it needs it. Clients that have not shown who they
are may have only a few, and refused ones hardly any.
"""

from __future__ import annotations

import resource
from collections.abc import Callable
from typing import Protocol

MAX_CONNECTIONS = 4000
MAX_UNKNOWN = 64
"""Connections whose client has not shown yet that it may use the server."""
MAX_REFUSED = 32
"""Refused connections that are left open until their client has read why."""
RESERVE = 24
"""Descriptors that no connection may take."""


def choose_backlog() -> int:
    """How many connections may wait to be accepted.

    All of them are accepted at once, before any is closed for them. `targets/program/descriptors`
    keeps so many free.
    """
    return max(8, min(512, _get_limit() // 4))


def _get_limit() -> int:
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return 1 << 20 if limit == resource.RLIM_INFINITY else limit


class Connection(Protocol):
    def drop(self) -> None:
        """Close it at once."""


class ConnectionLimits:
    """The connections of one server, each kind with the oldest first."""

    def __init__(self, max_connections: int = MAX_CONNECTIONS) -> None:
        self._max = max_connections
        self._all: set[Connection] = set()
        self._idle: dict[Connection, None] = {}
        self._unknown: dict[Connection, None] = {}
        self._refused: dict[Connection, None] = {}

    def __len__(self) -> int:
        return len(self._all)

    def add(self, connection: Connection, descriptor: int) -> bool:
        """Take a new connection. False if there is no room for it."""
        limit = _get_limit()
        # The kernel gives the lowest number that is free, so a high one says that few are left.
        left = limit - descriptor
        excess = 2 if left < choose_backlog() + RESERVE else 0
        if len(self._all) >= min(self._max, limit // 2):
            excess = max(excess, 1)
        for _ in range(excess):
            oldest = next(iter(self._refused or self._idle), None)
            if oldest is not None:
                self._drop(oldest)
            elif len(self._all) >= self._max or left < min(RESERVE, limit // 10):
                return False
        self._all.add(connection)
        return True

    def note_unknown(self, connection: Connection) -> None:
        """Its client has not shown yet who it is."""
        _keep_newest(self._unknown, connection, MAX_UNKNOWN, self._drop)

    def note_known(self, connection: Connection) -> None:
        self._unknown.pop(connection, None)

    def note_refused(self, connection: Connection) -> None:
        """It stays until its client has read the refusal."""
        self._idle.pop(connection, None)
        self._unknown.pop(connection, None)
        _keep_newest(self._refused, connection, MAX_REFUSED, self._drop)

    def note_idle(self, connection: Connection) -> None:
        """No request of its is being answered. It is the newest of the idle ones now."""
        self._idle.pop(connection, None)
        if connection in self._all:
            self._idle[connection] = None

    def note_busy(self, connection: Connection) -> None:
        self._idle.pop(connection, None)

    def remove(self, connection: Connection) -> None:
        self._all.discard(connection)
        for kind in (self._idle, self._unknown, self._refused):
            kind.pop(connection, None)

    def _drop(self, connection: Connection) -> None:
        self.remove(connection)
        connection.drop()


def _keep_newest(
    kind: dict[Connection, None],
    connection: Connection,
    most: int,
    drop: Callable[[Connection], None],
) -> None:
    kind[connection] = None
    while len(kind) > most:
        drop(next(iter(kind)))
