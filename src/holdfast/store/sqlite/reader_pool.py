"""Connections that only read. WAL lets them read while the writer writes."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from holdfast import timings
from holdfast.store.store_errors import StoreProblem

MAX_IDLE = 8

Row = tuple[Any, ...]


def connect(path: Path) -> sqlite3.Connection:
    """Open an existing database; never create one."""
    uri = f"{path.absolute().as_uri()}?mode=rw"
    connection = sqlite3.connect(
        uri,
        uri=True,
        timeout=timings.TIMINGS.store_free,
        isolation_level=None,
        check_same_thread=False,
    )
    # Damaged text must come as a row that can be set aside, not as an error that hides all rows.
    connection.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
    return connection


class ReaderPool:
    """Connections that any thread may borrow: threads come and go unnoticed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._idle: list[sqlite3.Connection] = []
        self._closed = False

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        try:
            with self._borrow() as connection:
                return connection.execute(sql, parameters).fetchall()
        except (sqlite3.Error, ValueError, OverflowError) as error:
            raise StoreProblem(f"The store could not read: {error}.") from error

    def close(self) -> None:
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    @contextlib.contextmanager
    def _borrow(self) -> Iterator[sqlite3.Connection]:
        connection = self._take()
        try:
            yield connection
        finally:
            self._give_back(connection)

    def _take(self) -> sqlite3.Connection:
        with self._lock:
            if self._closed:
                raise StoreProblem("The store is closed.")
            if self._idle:
                return self._idle.pop()
        connection = connect(self._path)
        connection.execute("PRAGMA query_only = ON")
        return connection

    def _give_back(self, connection: sqlite3.Connection) -> None:
        with self._lock:
            if not self._closed and len(self._idle) < MAX_IDLE:
                self._idle.append(connection)
                return
        connection.close()
