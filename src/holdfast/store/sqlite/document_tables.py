"""The tables that hold documents, and how a damaged row of one is moved out of the way."""

from __future__ import annotations

import json
import sqlite3
import time
from dataclasses import dataclass
from typing import Any

from holdfast.store.sqlite.reader_pool import Row


@dataclass(frozen=True)
class Table:
    """`columns` begins with the `keys` columns that identify a row."""

    name: str
    columns: tuple[str, ...]
    keys: int
    document: str

    @property
    def select(self) -> str:
        """The columns, then the document as bytes, because damaged text cannot be read as text."""
        columns = ", ".join(self.columns)
        return f"SELECT {columns}, CAST({self.document} AS BLOB) FROM {self.name}"


SETTINGS = Table("settings", ("key",), 1, "value")
SESSIONS = Table("sessions", ("id", "kind", "created_at", "updated_at"), 1, "document")
BREAKPOINTS = Table("breakpoints", ("project", "id", "position"), 2, "document")
PROFILES = Table("profiles", ("name",), 1, "document")
LAUNCHES = Table("launches", ("position",), 1, "document")
EVENTS = Table("events", ("session_id", "seq", "at", "type"), 2, "body")


def quarantine(connection: sqlite3.Connection, table: Table, row: Row) -> None:
    """Move a row as read by `table.select`, unless it has been replaced since."""
    keys = [f"CAST({key} AS BLOB) = CAST(? AS BLOB)" for key in table.columns[: table.keys]]
    where = f"{' AND '.join(keys)} AND CAST({table.document} AS BLOB) IS ?"
    match = (*(_to_raw(value) for value in row[: table.keys]), row[-1])
    connection.execute(
        'INSERT INTO quarantine ("table", key, document, at) '
        f"SELECT ?, ?, CAST({table.document} AS BLOB), ? FROM {table.name} WHERE {where}",
        (table.name, describe(table, row), time.time(), *match),
    )
    connection.execute(f"DELETE FROM {table.name} WHERE {where}", match)


def describe(table: Table, row: Row) -> str:
    """Everything of the row but its document, as JSON."""
    return json.dumps(dict(zip(table.columns, row[:-1], strict=True)), default=repr)


def check_text(value: Any) -> str:
    """A text column as read; ValueError when its bytes were not text."""
    if not isinstance(value, str):
        raise ValueError(f"expected text, found {type(value).__name__}")
    value.encode()
    return value


def _to_raw(value: Any) -> Any:
    return value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value
