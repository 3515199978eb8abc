"""The store in one SQLite file: opening it, and its parts."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sqlite3
import stat
import threading
from pathlib import Path

from holdfast.model.records import StoreWarning
from holdfast.store.local_bell import LocalBell
from holdfast.store.sqlite.call_buffer import CallBuffer
from holdfast.store.sqlite.call_journal import CallJournal
from holdfast.store.sqlite.call_row_reader import CallRowReader
from holdfast.store.sqlite.database import Database
from holdfast.store.sqlite.database_check import COMPANIONS, companion, ensure_usable
from holdfast.store.sqlite.directory_lock import DirectoryLock, lock_directory
from holdfast.store.sqlite.journal_replay import replay_journal
from holdfast.store.sqlite.log_check import check_log
from holdfast.store.sqlite.migrations import migrate
from holdfast.store.sqlite.reader_pool import connect
from holdfast.store.sqlite.sqlite_calls import SqliteCallLog
from holdfast.store.sqlite.sqlite_contents import SqliteContents
from holdfast.store.sqlite.sqlite_directory import SqliteDirectory
from holdfast.store.sqlite.sqlite_feed import SqliteFeed
from holdfast.store.store_errors import StoreProblem
from holdfast.store.store_warnings import StoreWarnings
from holdfast.trust.private_files import (
    NotPrivate,
    check_parents,
    make_private_directory,
    open_private_file,
)

DATABASE_NAME = "holdfast.db"


def open_sqlite_store(directory: Path) -> SqliteStore:
    """Open the store in `directory`, creating both if needed. Blocks."""
    try:
        return _open(directory)
    except NotPrivate as error:
        raise StoreProblem(
            f"The data directory {directory} is refused: {error}.",
            hint="Choose a directory of your own with --data-dir or HOLDFAST_HOME.",
            directory=str(directory),
        ) from error
    except (OSError, sqlite3.Error) as error:
        raise StoreProblem(
            f"The data directory {directory} cannot be used: {error}.",
            hint="Choose a directory that you can write to, on a disk with room.",
            directory=str(directory),
        ) from error


def _open(directory: Path) -> SqliteStore:
    warnings = StoreWarnings()
    _make_private(directory, warnings)
    with contextlib.ExitStack() as undo:
        lock = lock_directory(directory)
        undo.callback(lock.release)
        path = directory / DATABASE_NAME
        _refuse_strange_files(path)
        ensure_usable(path, warnings)
        _make_private_files(path)
        connection = connect(path)
        undo.callback(connection.close)
        check_log(connection, path, warnings)
        _prepare(connection)
        [(number,)] = connection.execute("SELECT number FROM identity")
        journal = replay_journal(connection, directory, number, warnings)
        store = SqliteStore(path, connection, lock, warnings, number, journal)
        undo.pop_all()
    return store


def _make_private(directory: Path, warnings: StoreWarnings) -> None:
    for text in make_private_directory(directory):
        warnings.add("DATA_DIRECTORY_OPEN", text, directory=str(directory))
    for number, text in enumerate(check_parents(directory)):
        warnings.add("DATA_DIRECTORY_UNSAFE", text, about=number, directory=str(directory))


def _refuse_strange_files(path: Path) -> None:
    """SQLite would follow a link, and opening a FIFO would wait for its other end."""
    for suffix in ("", *COMPANIONS):
        file = companion(path, suffix)
        with contextlib.suppress(FileNotFoundError):
            mode = os.lstat(file).st_mode
            if stat.S_ISLNK(mode):
                raise NotPrivate(f"{file} is a symbolic link, which is not followed")
            if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
                raise NotPrivate(f"{file} is not a regular file")


def _make_private_files(path: Path) -> None:
    """SQLite gives its companion files the mode of the database, whatever the umask."""
    os.close(open_private_file(path, os.O_RDWR | os.O_CREAT))
    for suffix in COMPANIONS:
        with contextlib.suppress(FileNotFoundError):
            os.close(open_private_file(companion(path, suffix), os.O_RDWR))


def _prepare(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA journal_mode = WAL").fetchall()
    connection.execute("PRAGMA foreign_keys = ON")
    # Keep all pages that a large group of calls touches: each is written once.
    connection.execute("PRAGMA cache_size = -32768")
    # Shrink the log again after a burst of writes.
    connection.execute("PRAGMA journal_size_limit = 67108864").fetchall()
    # Checkpoint every 32 MB instead of every 4: thousands of calls touch the same index pages, and
    # each checkpoint copies them.
    connection.execute("PRAGMA wal_autocheckpoint = 8000").fetchall()
    migrate(connection)


class SqliteStore:
    """See `Store` for what each part guarantees."""

    def __init__(
        self,
        path: Path,
        connection: sqlite3.Connection,
        lock: DirectoryLock,
        warnings: StoreWarnings,
        number: int,
        journal: CallJournal,
    ) -> None:
        self.file: Path | None = path
        self.number = number
        self._warnings = warnings
        self._lock = lock
        self._closing = threading.Lock()
        self._database = Database(path, connection, warnings)
        self.bell = LocalBell()
        self._buffer = CallBuffer(self._database.writer, journal, warnings, self.bell)
        rows = CallRowReader(self._database, number)
        self.call_log = SqliteCallLog(self._database, self._buffer, rows)
        self.contents = SqliteContents(self._database, self._buffer, rows)
        self.feed = SqliteFeed(self._database, self.bell)
        self.directory = SqliteDirectory(self._database)

    @property
    def warnings(self) -> list[StoreWarning]:
        return self._warnings.entries()

    async def flush(self) -> None:
        self._buffer.schedule()
        await asyncio.to_thread(self._database.writer.flush)

    async def aclose(self) -> None:
        await asyncio.to_thread(self.close)

    def close(self) -> None:
        """Close the store, and block until everything is committed."""
        with self._closing:
            self._buffer.close()
            self._database.close()
            self._buffer.close_journal()
            self._lock.release()
