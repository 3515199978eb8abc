"""Sessions, breakpoints, profiles, launches and settings in SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from holdfast.model.call import CallBreakpoint
from holdfast.model.records import SessionRecord
from holdfast.store.interface import Document
from holdfast.store.pending_write import PendingWrite
from holdfast.store.sqlite import call_rows
from holdfast.store.sqlite.database import Database
from holdfast.store.sqlite.document_codec import decode, decode_object, encode, encode_object
from holdfast.store.sqlite.document_tables import (
    BREAKPOINTS,
    LAUNCHES,
    PROFILES,
    SESSIONS,
    SETTINGS,
    Table,
    check_text,
)
from holdfast.store.sqlite.reader_pool import Row
from holdfast.store.store_errors import StoreProblem

T = TypeVar("T")


class SqliteDirectory:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def _read(
        self, table: Table, where: str, build: Callable[[Row], T], *values: Any
    ) -> list[T]:
        return await self._database.run(self._read_now, table, where, build, values)

    def _read_now(
        self, table: Table, where: str, build: Callable[[Row], T], values: Sequence[Any]
    ) -> list[T]:
        rows = self._database.latest_rows(f"{table.select} {where}", values)
        return self._database.build(table, rows, build)

    # -- settings --------------------------------------------------------------------------------

    async def settings(self) -> dict[str, Any]:
        return dict(await self._read(SETTINGS, "ORDER BY key", _setting))

    def put_settings(self, values: Mapping[str, Any]) -> PendingWrite:
        rows = [(key, encode(value)) for key, value in values.items()]
        return self._database.write_rows(
            "INSERT OR REPLACE INTO settings (key, value) VALUES (?, ?)", rows
        )

    # -- sessions --------------------------------------------------------------------------------

    async def sessions(self) -> list[SessionRecord]:
        return await self._read(SESSIONS, "ORDER BY created_at, id", _session)

    def put_session(self, record: SessionRecord) -> PendingWrite:
        document = encode_object(record.document)
        row = (record.id, record.kind, record.created_at, record.updated_at, document)
        return self._database.write_rows(
            "INSERT OR REPLACE INTO sessions (id, kind, created_at, updated_at, document) "
            "VALUES (?, ?, ?, ?, ?)",
            [row],
        )

    def delete_session(self, session_id: str) -> PendingWrite:
        def delete(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM events WHERE session_id = ?", (session_id,))
            connection.execute("DELETE FROM sessions WHERE id = ?", (session_id,))

        return self._database.writer.submit(delete, forgets=session_id)

    # -- breakpoints -----------------------------------------------------------------------------

    async def breakpoints(self) -> dict[str, list[Document]]:
        breakpoints: dict[str, list[Document]] = {}
        rows = await self._read(BREAKPOINTS, "ORDER BY project, position", _breakpoint)
        for project, document in rows:
            breakpoints.setdefault(project, []).append(document)
        return breakpoints

    def put_breakpoints(self, project: str, breakpoints: Sequence[Document]) -> PendingWrite:
        rows = [
            (project, _breakpoint_id(document), position, encode_object(document))
            for position, document in enumerate(breakpoints)
        ]

        def replace(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM breakpoints WHERE project = ?", (project,))
            connection.executemany(
                "INSERT INTO breakpoints (project, id, position, document) VALUES (?, ?, ?, ?)",
                rows,
            )

        return self._database.writer.submit(replace)

    async def call_breakpoints(self) -> list[CallBreakpoint]:
        return await self._database.run(self._call_breakpoints)

    def _call_breakpoints(self) -> list[CallBreakpoint]:
        breakpoints = []
        sql = "SELECT id, CAST(document AS BLOB) FROM call_breakpoints ORDER BY position"
        for breakpoint_id, document in self._database.latest_rows(sql):
            try:
                breakpoints.append(call_rows.decode_breakpoint(document))
            except (ValueError, TypeError, KeyError) as error:
                self._database.warnings.add(
                    "STORE_ROW_DAMAGED",
                    f"Call breakpoint {breakpoint_id} could not be read ({error}); it is not in "
                    "force.",
                    about=("call_breakpoints", breakpoint_id),
                )
        return breakpoints

    def put_call_breakpoints(self, breakpoints: Sequence[CallBreakpoint]) -> PendingWrite:
        rows = [
            (rule.id, position, encode(call_rows.breakpoint_document(rule)))
            for position, rule in enumerate(breakpoints)
        ]

        def replace(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM call_breakpoints")
            connection.executemany(
                "INSERT INTO call_breakpoints (id, position, document) VALUES (?, ?, ?)", rows
            )

        return self._database.writer.submit(replace)

    # -- profiles --------------------------------------------------------------------------------

    async def profiles(self) -> dict[str, Document]:
        return dict(await self._read(PROFILES, "ORDER BY name", _profile))

    def put_profile(self, name: str, profile: Document) -> PendingWrite:
        row = (name, encode_object(profile))
        return self._database.write_rows(
            "INSERT OR REPLACE INTO profiles (name, document) VALUES (?, ?)", [row]
        )

    def delete_profile(self, name: str) -> PendingWrite:
        return self._database.write_rows("DELETE FROM profiles WHERE name = ?", [(name,)])

    # -- launches --------------------------------------------------------------------------------

    async def launches(self) -> list[Document]:
        return await self._read(LAUNCHES, "ORDER BY position", _launch)

    def put_launches(self, launches: Sequence[Document]) -> PendingWrite:
        rows = [(position, encode_object(launch)) for position, launch in enumerate(launches)]

        def replace(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM launches")
            connection.executemany("INSERT INTO launches (position, document) VALUES (?, ?)", rows)

        return self._database.writer.submit(replace)


def _setting(row: Row) -> tuple[str, Any]:
    return check_text(row[0]), decode(row[-1])


def _profile(row: Row) -> tuple[str, Document]:
    return check_text(row[0]), decode_object(row[-1])


def _launch(row: Row) -> Document:
    return decode_object(row[-1])


def _breakpoint(row: Row) -> tuple[str, Document]:
    return check_text(row[0]), decode_object(row[-1])


def _session(row: Row) -> SessionRecord:
    session_id, kind, created_at, updated_at, document = row
    return SessionRecord(
        check_text(session_id),
        check_text(kind),
        float(created_at),
        float(updated_at),
        decode_object(document),
    )


def _breakpoint_id(document: Document) -> str:
    if "id" not in document:
        raise StoreProblem("A breakpoint without an `id` cannot be stored.", hint="Give it an id.")
    return str(document["id"])
