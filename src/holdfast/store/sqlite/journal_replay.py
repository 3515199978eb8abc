"""Writes into the database what a killed server left in the journal of calls."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from holdfast.store.sqlite.call_journal import CallJournal, list_files, read_entries, read_number
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
    paths = list_files(directory)
    files: dict[int, tuple[Path, bytes]] = {}
    for path in paths:
        with open(open_private_file(path, os.O_RDONLY), "rb") as file:
            data = file.read()
        try:
            files[read_number(data, store)] = path, data
        except ValueError as problem:
            _keep(path, problem, warnings)
    rows = QueuedRows()
    numbers = sorted(number for number in files if number > done)
    for number in numbers:
        path, data = files[number]
        try:
            for entry in read_entries(data, number):
                rows.add_entry(entry)
        except (ValueError, TypeError, EOFError) as problem:
            _keep(path, problem, warnings)
    if numbers:
        _commit(connection, rows, numbers[-1])
    for path in paths:
        path.unlink(missing_ok=True)
    return CallJournal(directory, store, max([done, *numbers]))


def _keep(path: Path, problem: Exception, warnings: StoreWarnings) -> None:
    """Rename a file that cannot be used, or not to its end."""
    kept = name_aside(path)
    os.rename(path, kept)
    warnings.add(
        "CALLS_JOURNAL_DAMAGED",
        f"A file of the journal of calls cannot be used to its end ({problem}), so calls that were "
        f"recorded last before the server stopped may be lost. It is kept as {kept.name}.",
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
