"""One SQLite file: the thread that writes it, and threads and connections that read it."""

from __future__ import annotations

import asyncio
import functools
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from holdfast.store.pending_write import PendingWrite
from holdfast.store.sqlite.database_check import companion, warn_of_damage
from holdfast.store.sqlite.document_tables import Table, describe, quarantine
from holdfast.store.sqlite.log_sync import LogSync
from holdfast.store.sqlite.reader_pool import MAX_IDLE, ReaderPool, Row
from holdfast.store.sqlite.writer_thread import WriterThread
from holdfast.store.store_errors import StoreProblem
from holdfast.store.store_warnings import StoreWarnings

T = TypeVar("T")


class Database:
    def __init__(self, path: Path, connection: sqlite3.Connection, warnings: StoreWarnings) -> None:
        self.warnings = warnings
        self._log_sync = LogSync(companion(path, "-wal"))
        self.writer = WriterThread(connection, warnings, on_commit=self._log_sync.note_commit)
        self._readers = ReaderPool(path)
        self._threads = ThreadPoolExecutor(MAX_IDLE, "holdfast-read")
        self._closed = False

    # -- reading -----------------------------------------------------------------------------

    async def run(self, read: Callable[..., T], *args: Any) -> T:
        """Run a function that reads on a thread, because nothing is read on the event loop."""
        if self._closed:
            raise StoreProblem("The store is closed.")
        return await asyncio.get_running_loop().run_in_executor(self._threads, read, *args)

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """Committed rows. Blocks, so it runs on a thread that reads."""
        try:
            return self._readers.rows(sql, parameters)
        except StoreProblem as problem:
            warn_of_damage(problem.__cause__, self.warnings)
            raise

    def latest_rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """The same, after every write that was submitted before. Blocks."""
        self.writer.catch_up()
        return self.rows(sql, parameters)

    def build(self, table: Table, rows: Iterable[Row], build: Callable[[Row], T]) -> list[T]:
        """What `build` makes of each row. A damaged row is moved out of the way."""
        built = []
        for row in rows:
            try:
                built.append(build(row))
            except (ValueError, TypeError, RecursionError) as error:
                self._quarantine(table, row, error)
        return built

    def _quarantine(self, table: Table, row: Row, error: Exception) -> None:
        key = describe(table, row)
        self.warnings.add(
            "STORE_ROW_DAMAGED",
            f"A row of {table.name} could not be read ({error}); it was moved to quarantine.",
            about=(table.name, key),
            table=table.name,
            key=key,
        )
        self.writer.submit(functools.partial(quarantine, table=table, row=row))

    # -- writing -----------------------------------------------------------------------------

    def write_rows(self, sql: str, rows: list[Row]) -> PendingWrite:
        def write(connection: sqlite3.Connection) -> None:
            connection.executemany(sql, rows)

        return self.writer.submit(write)

    def close(self) -> None:
        """Commit what is queued. Blocks."""
        self._closed = True
        self._threads.shutdown()
        self._readers.close()
        self.writer.close()
        self._log_sync.close()
