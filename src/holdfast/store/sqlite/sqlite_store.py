"""The store in one SQLite file."""

from __future__ import annotations

import contextlib
import functools
import os
import sqlite3
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

from holdfast.model.records import EventRecord, SessionRecord
from holdfast.store.interface import Store
from holdfast.store.sqlite.database_check import COMPANIONS, companion, ensure_usable
from holdfast.store.sqlite.directory_lock import DirectoryLock, lock_directory
from holdfast.store.sqlite.document_codec import (
    decode,
    decode_object,
    encode,
    encode_object,
)
from holdfast.store.sqlite.document_tables import (
    BREAKPOINTS,
    EVENTS,
    PROFILES,
    SESSIONS,
    SETTINGS,
    Table,
    describe,
    quarantine,
    sound_text,
)
from holdfast.store.sqlite.migrations import migrate
from holdfast.store.sqlite.reader_pool import ReaderPool, Row, connect
from holdfast.store.sqlite.sqlite_calls import CallTables
from holdfast.store.sqlite.write_queue import EventRow
from holdfast.store.sqlite.writer_thread import WriterThread
from holdfast.store.store_errors import StoreProblem, StoreWarnings

DATABASE_NAME = "holdfast.db"

T = TypeVar("T")


def open_store(directory: Path) -> Store:
    """Open the store kept in `directory`, creating both if needed."""
    directory = Path(directory)
    try:
        return _open(directory)
    except (OSError, sqlite3.Error) as error:
        raise StoreProblem(
            f"The data directory {directory} cannot be used: {error}.",
            hint="Choose a directory that you can write to, on a disk with room.",
            directory=str(directory),
        ) from error


def _open(directory: Path) -> SqliteStore:
    warnings = StoreWarnings()
    _make_private_directory(directory)
    with contextlib.ExitStack() as undo:
        lock = lock_directory(directory)
        undo.callback(lock.release)
        path = directory / DATABASE_NAME
        ensure_usable(path, warnings)
        _make_private_files(path)
        connection = connect(path)
        undo.callback(connection.close)
        _prepare(connection)
        store = SqliteStore(path, connection, lock, warnings)
        undo.pop_all()
    return store


def _make_private_directory(directory: Path) -> None:
    """Create what is missing for the owner alone; a directory that exists keeps its mode."""
    missing = [path for path in (directory, *directory.parents) if not path.exists()]
    for path in reversed(missing):
        with contextlib.suppress(FileExistsError):
            path.mkdir(mode=0o700)
            path.chmod(0o700)


def _make_private_files(path: Path) -> None:
    """SQLite gives its companion files the mode of the database, whatever the umask."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    for suffix in ("", *COMPANIONS):
        with contextlib.suppress(FileNotFoundError):
            companion(path, suffix).chmod(0o600)


def _prepare(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA journal_mode = WAL").fetchall()
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA foreign_keys = ON")
    # Room for all pages that a large group of calls touches: written once, not once a spill.
    connection.execute("PRAGMA cache_size = -32768")
    # After a burst, do not keep a log of the burst's size.
    connection.execute("PRAGMA journal_size_limit = 67108864").fetchall()
    # Every 32 MB instead of every 4: calls by the thousand touch the same pages of their indexes
    # again and again, and each checkpoint copies them.
    connection.execute("PRAGMA wal_autocheckpoint = 8000").fetchall()
    migrate(connection)


class SqliteStore:
    """See `Store` for what each operation promises."""

    def __init__(
        self,
        path: Path,
        connection: sqlite3.Connection,
        lock: DirectoryLock,
        warnings: StoreWarnings,
    ) -> None:
        self._warnings = warnings
        self._lock = lock
        self._closing = threading.Lock()
        self._readers = ReaderPool(path)
        self._writer = WriterThread(connection, warnings)
        self.calls = CallTables(self._writer, self._readers, warnings)

    @property
    def warnings(self) -> list[dict[str, Any]]:
        return self._warnings.entries()

    @property
    def dropped_events(self) -> int:
        return self._writer.queue.dropped

    # -- settings --------------------------------------------------------------------------------

    def settings(self) -> dict[str, Any]:
        rows = self._read(f"{SETTINGS.select} ORDER BY key")
        return dict(self._sound(SETTINGS, rows, lambda row: (sound_text(row[0]), decode(row[-1]))))

    def put_setting(self, key: str, value: Any) -> Future[None]:
        return self.put_settings({key: value})

    def put_settings(self, values: Mapping[str, Any]) -> Future[None]:
        rows = [(key, encode(value)) for key, value in values.items()]
        return self._write_many("INSERT OR REPLACE INTO settings (key, value) VALUES (?, ?)", rows)

    # -- sessions --------------------------------------------------------------------------------

    def sessions(self) -> list[SessionRecord]:
        rows = self._read(f"{SESSIONS.select} ORDER BY created_at, id")
        return self._sound(SESSIONS, rows, _session)

    def session(self, session_id: str) -> SessionRecord | None:
        rows = self._read(f"{SESSIONS.select} WHERE id = ?", (session_id,))
        return next(iter(self._sound(SESSIONS, rows, _session)), None)

    def put_session(self, record: SessionRecord) -> Future[None]:
        document = encode_object(record.document)
        row = (record.id, record.kind, record.created_at, record.updated_at, document)
        return self._write_many(
            "INSERT OR REPLACE INTO sessions (id, kind, created_at, updated_at, document) "
            "VALUES (?, ?, ?, ?, ?)",
            [row],
        )

    def delete_session(self, session_id: str) -> Future[None]:
        def delete(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM events WHERE session_id = ?", (session_id,))
            connection.execute("DELETE FROM sessions WHERE id = ?", (session_id,))

        return self._writer.submit(delete, forgets=session_id)

    # -- breakpoints -----------------------------------------------------------------------------

    def projects(self) -> list[str]:
        rows = self._read("SELECT DISTINCT project FROM breakpoints ORDER BY project")
        return [project for (project,) in rows]

    def breakpoints(self, project: str) -> list[dict[str, Any]]:
        rows = self._read(f"{BREAKPOINTS.select} WHERE project = ? ORDER BY position", (project,))
        return self._sound(BREAKPOINTS, rows, lambda row: decode_object(row[-1]))

    def put_breakpoints(self, project: str, documents: Sequence[dict[str, Any]]) -> Future[None]:
        rows = [
            (project, _breakpoint_id(document), position, encode_object(document))
            for position, document in enumerate(documents)
        ]

        def replace(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM breakpoints WHERE project = ?", (project,))
            connection.executemany(
                "INSERT INTO breakpoints (project, id, position, document) VALUES (?, ?, ?, ?)",
                rows,
            )

        return self._writer.submit(replace)

    # -- profiles --------------------------------------------------------------------------------

    def profiles(self) -> dict[str, dict[str, Any]]:
        rows = self._read(f"{PROFILES.select} ORDER BY name")
        return dict(
            self._sound(PROFILES, rows, lambda row: (sound_text(row[0]), decode_object(row[-1])))
        )

    def put_profile(self, name: str, document: dict[str, Any]) -> Future[None]:
        row = (name, encode_object(document))
        return self._write_many(
            "INSERT OR REPLACE INTO profiles (name, document) VALUES (?, ?)", [row]
        )

    def delete_profile(self, name: str) -> Future[None]:
        return self._write_many("DELETE FROM profiles WHERE name = ?", [(name,)])

    # -- events ----------------------------------------------------------------------------------

    def append_event(
        self,
        session_id: str,
        seq: int,
        at: float,
        type: str,  # noqa: A002
        body: dict[str, Any],
    ) -> None:
        try:
            row = EventRow(session_id, seq, at, type, encode_object(body))
        except StoreProblem as problem:
            self._writer.refuse(session_id, seq, type, problem)
        else:
            self._writer.append(row)

    def events(
        self,
        session_id: str,
        after: int = 0,
        limit: int = 1000,
        types: Collection[str] | None = None,
    ) -> list[EventRecord]:
        # Pending before stored: what is committed in between is then seen twice, not never.
        pending = self._writer.queue.pending(session_id)
        found = {
            row.seq: _pending_event(row)
            for row in pending
            if row.seq > after and (types is None or row.type in types)
        }
        for event in self._stored_events(session_id, after, limit, types):
            found[event.seq] = event
        return [found[seq] for seq in sorted(found)[: max(limit, 0)]]

    def last_seq(self, session_id: str) -> int:
        pending = self._writer.queue.last_pending_seq(session_id)
        rows = self._readers.rows("SELECT max(seq) FROM events WHERE session_id = ?", (session_id,))
        return max(pending, rows[0][0] or 0)

    def _stored_events(
        self, session_id: str, after: int, limit: int, types: Collection[str] | None
    ) -> list[EventRecord]:
        """Up to `limit` sound events: damaged ones do not make a page look like the last."""
        some = "" if types is None else f"AND type IN ({', '.join('?' * len(types))})"
        sql = f"{EVENTS.select} WHERE session_id = ? AND seq > ? {some} ORDER BY seq LIMIT ?"
        found: list[EventRecord] = []
        while (wanted := limit - len(found)) > 0:
            page = self._readers.rows(sql, (session_id, after, *(types or ()), wanted))
            found += self._sound(EVENTS, page, _event)
            if len(page) < wanted:
                break
            after = page[-1][1]
        return found

    # -- the whole -------------------------------------------------------------------------------

    def flush(self) -> None:
        self._writer.flush()

    def close(self) -> None:
        with self._closing:
            self.calls.close()
            self._readers.close()
            self._writer.close()
            self._lock.release()

    def _read(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        self._writer.catch_up()
        return self._readers.rows(sql, parameters)

    def _write_many(self, sql: str, rows: list[Row]) -> Future[None]:
        def write(connection: sqlite3.Connection) -> None:
            connection.executemany(sql, rows)

        return self._writer.submit(write)

    def _sound(self, table: Table, rows: Iterable[Row], build: Callable[[Row], T]) -> list[T]:
        """What `build` makes of each row; a damaged row is set aside, not in the way."""
        built = []
        for row in rows:
            try:
                built.append(build(row))
            except (ValueError, TypeError, RecursionError) as error:
                self._set_aside(table, row, error)
        return built

    def _set_aside(self, table: Table, row: Row, error: Exception) -> None:
        key = describe(table, row)
        self._warnings.add(
            "STORE_ROW_DAMAGED",
            f"A row of {table.name} could not be read ({error}); it was moved to quarantine.",
            about=(table.name, key),
            table=table.name,
            key=key,
        )
        self._writer.submit(functools.partial(quarantine, table=table, row=row))


def _session(row: Row) -> SessionRecord:
    session_id, kind, created_at, updated_at, document = row
    return SessionRecord(
        sound_text(session_id),
        sound_text(kind),
        float(created_at),
        float(updated_at),
        decode_object(document),
    )


def _event(row: Row) -> EventRecord:
    session_id, seq, at, event_type, body = row
    return EventRecord(session_id, int(seq), float(at), sound_text(event_type), decode_object(body))


def _pending_event(row: EventRow) -> EventRecord:
    return EventRecord(row.session_id, row.seq, row.at, row.type, decode_object(row.body.encode()))


def _breakpoint_id(document: dict[str, Any]) -> str:
    if "id" not in document:
        raise StoreProblem("A breakpoint without an `id` cannot be stored.", hint="Give it an id.")
    return str(document["id"])
