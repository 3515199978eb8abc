"""Writes into the database what a killed server left in the journal of calls."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from holdfast.store.sqlite.call_journal import CallJournal, list_files, read_entries
from holdfast.store.sqlite.database_check import name_aside
from holdfast.store.sqlite.queued_rows import QueuedRows, move_parents
from holdfast.store.store_warnings import StoreWarnings
from holdfast.trust.private_files import open_private_file


def replay_journal(
    connection: sqlite3.Connection, directory: Path, store: int, warnings: StoreWarnings
) -> CallJournal:
    """Commit what the files have and the database lacks, delete them, and begin a new journal.

    An entry at the end that was not written whole was never acknowledged: it is left out.
    """
    [(done,)] = connection.execute("SELECT done FROM journal")
    files = list_files(directory)
    rows = QueuedRows()
    for number, path in files:
        if number > done:
            _add_file(rows, path, store, number, warnings)
    last = max([done, *(number for number, _ in files)])
    if last > done:
        _commit(connection, rows, last)
    for _, path in files:
        path.unlink(missing_ok=True)
    return CallJournal(directory, store, last)


def _add_file(
    rows: QueuedRows, path: Path, store: int, number: int, warnings: StoreWarnings
) -> None:
    with open(open_private_file(path, os.O_RDONLY), "rb") as file:
        data = file.read()
    try:
        for entry in read_entries(data, store, number):
            rows.add_entry(entry)
    except (ValueError, TypeError, EOFError) as problem:
        kept = name_aside(path)
        os.rename(path, kept)
        warnings.add(
            "CALLS_JOURNAL_DAMAGED",
            f"A file of the journal of calls cannot be used to its end ({problem}), so calls that "
            f"were recorded last before the server stopped may be lost. It is kept as {kept.name}.",
            about=kept,
            path=str(path),
            kept_as=str(kept),
            reason=str(problem),
        )


def _commit(connection: sqlite3.Connection, rows: QueuedRows, last: int) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        move_parents(connection, rows.write(connection))
        connection.execute("UPDATE journal SET done = ?", (last,))
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
