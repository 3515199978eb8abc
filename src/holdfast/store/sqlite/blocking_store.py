"""The store as callers used it before it could be awaited: reads block the caller."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from holdfast.model.call import CallBreakpoint, CallRecord, Function, Preview
from holdfast.model.call_query import CallQuery
from holdfast.model.records import EventRecord, SessionRecord
from holdfast.store.sqlite import call_pruning
from holdfast.store.sqlite import sqlite_directory as records
from holdfast.store.sqlite.call_buffer import CallBuffer
from holdfast.store.sqlite.database import Database
from holdfast.store.sqlite.document_codec import decode
from holdfast.store.sqlite.document_tables import (
    BREAKPOINTS,
    PROFILES,
    SESSIONS,
    SETTINGS,
)
from holdfast.store.sqlite.packed_calls import PackedCalls, session_number
from holdfast.store.sqlite.reader_pool import Row
from holdfast.store.sqlite.sqlite_calls import _UNUSED_STACKS, SqliteCallLog
from holdfast.store.sqlite.sqlite_contents import SqliteContents
from holdfast.store.sqlite.sqlite_directory import SqliteDirectory
from holdfast.store.sqlite.sqlite_feed import SqliteFeed


@dataclass
class Packed:
    rows: list[Row] = field(default_factory=list)
    values: array[int] = field(default_factory=lambda: array("q"))
    users: array[int] = field(default_factory=lambda: array("q"))
    begun: Counter[int] = field(default_factory=Counter)


class CallTables:
    def __init__(
        self,
        database: Database,
        buffer: CallBuffer,
        log: SqliteCallLog,
        contents: SqliteContents,
        directory: SqliteDirectory,
    ) -> None:
        self._writer = database.writer
        self._readers = database
        self._buffer = buffer
        self._log = log
        self._contents = contents
        self._directory = directory
        self._sort_in = buffer.sort_uses
        self.put_call = log.append_call
        self.update_call = log.update_call
        self.put_function = log.put_function
        self.put_content = contents.put
        self.wait_for_room = buffer.wait_for_room
        self.delete_session = log.delete_session
        self.put_breakpoints = directory.put_call_breakpoints

    @property
    def has_room(self) -> bool:
        return self._buffer.has_room

    @property
    def is_idle(self) -> bool:
        return self._buffer.is_idle

    def put_packed(self, packed: Packed) -> None:
        size = sum(len(row[8]) for row in packed.rows)
        self._buffer.add_packed(
            PackedCalls(packed.rows, packed.values, packed.users, packed.begun, size)
        )

    def put_stack(self, stack: int, frames: str) -> None:
        self._buffer.add_stack(stack, frames)

    def preview(self, cid: str, *, surely: bool = False) -> Preview | None:
        queued = self._buffer.content(bytes.fromhex(cid))
        if queued is not None:
            found: Preview = decode(queued[1].encode())
            return found
        return self._contents._previews([cid], surely).get(cid)

    def data(self, cid: str) -> bytes | None:
        queued = self._buffer.content(bytes.fromhex(cid))
        return queued[0] if queued is not None else self._contents._data(cid)

    def last_number(self) -> int:
        return self._log._number("SELECT max(id) FROM calls")

    def call(self, number: int, functions: Mapping[int, Function]) -> CallRecord | None:
        self._log._rows.functions.update(functions)
        return self._buffer.call(number) or self._log._call(number)

    def newest(
        self, query: CallQuery, most: int, functions: Mapping[int, Function]
    ) -> list[CallRecord]:
        self._log._rows.functions.update(functions)
        return self._log._newest(query, most)

    def children(
        self, parent: int, most: int, functions: Mapping[int, Function]
    ) -> list[CallRecord]:
        self._log._rows.functions.update(functions)
        return self._log._children(parent, most)

    def stack(self, stack: int) -> list[dict[str, Any]]:
        queued = self._buffer.stack(stack)
        return self._log._stack(stack) if queued is None else list(decode(queued.encode()))

    def functions(self) -> list[tuple[Function, int]]:
        return self._log._functions()

    def count_of_session(self, session_id: str) -> int:
        sql = "SELECT count(*) FROM calls WHERE session = ?"
        return self._log._number(sql, session_number(session_id))

    def lose_running(self) -> None:
        self._log.lose_running().exception()

    def excess(self, kept: int) -> int:
        return self._log._number("SELECT count(*) FROM calls") - kept

    def drop_oldest(self, most: int) -> tuple[int, list[str]] | None:
        found: list[tuple[int, list[str]] | None] = []

        def drop(connection: Any) -> None:
            dropped = call_pruning.drop_oldest(connection, most)
            found.append(None if dropped is None else (dropped.count, dropped.cids))

        self._writer.submit(drop).result()
        return found[-1]

    def unused_stacks(self) -> set[int]:
        return {row[0] for row in self._readers.rows(_UNUSED_STACKS)}

    def drop_stacks(self, stacks: Iterable[int]) -> None:
        self._buffer.settle()
        self._log.submit_drop_stacks(set(stacks)).result()

    def drop_contents(self, cids: Sequence[str], may_go: Callable[[str], bool]) -> int | None:
        self._buffer.settle()
        gone: list[int | None] = []

        def drop(connection: Any) -> None:
            could = not self._buffer.is_behind
            gone.append(call_pruning.drop_contents(connection, cids, may_go) if could else None)

        self._writer.submit(drop).result()
        return gone[-1]

    def breakpoints(self) -> list[CallBreakpoint]:
        return self._directory._call_breakpoints()


class BlockingStore:
    feed: SqliteFeed
    directory: SqliteDirectory
    _database: Database

    @property
    def dropped_events(self) -> int:
        return self.feed.dropped_events

    def settings(self) -> dict[str, Any]:
        found = self.directory._read_now(SETTINGS, "ORDER BY key", records._setting, ())
        return dict(found)

    def put_setting(self, key: str, value: Any) -> Future[None]:
        return self.directory.put_settings({key: value})

    def put_settings(self, values: Mapping[str, Any]) -> Future[None]:
        return self.directory.put_settings(values)

    def sessions(self) -> list[SessionRecord]:
        return self.directory._read_now(SESSIONS, "ORDER BY created_at, id", records._session, ())

    def session(self, session_id: str) -> SessionRecord | None:
        found = self.directory._read_now(SESSIONS, "WHERE id = ?", records._session, (session_id,))
        return found[0] if found else None

    def put_session(self, record: SessionRecord) -> Future[None]:
        return self.directory.put_session(record)

    def delete_session(self, session_id: str) -> Future[None]:
        return self.directory.delete_session(session_id)

    def projects(self) -> list[str]:
        sql = "SELECT DISTINCT project FROM breakpoints ORDER BY project"
        return [project for (project,) in self._database.latest_rows(sql)]

    def breakpoints(self, project: str) -> list[dict[str, Any]]:
        where = "WHERE project = ? ORDER BY position"
        found = self.directory._read_now(BREAKPOINTS, where, records._breakpoint, (project,))
        return [document for _, document in found]

    def put_breakpoints(self, project: str, documents: Sequence[dict[str, Any]]) -> Future[None]:
        return self.directory.put_breakpoints(project, documents)

    def profiles(self) -> dict[str, dict[str, Any]]:
        return dict(self.directory._read_now(PROFILES, "ORDER BY name", records._profile, ()))

    def put_profile(self, name: str, document: dict[str, Any]) -> Future[None]:
        return self.directory.put_profile(name, document)

    def delete_profile(self, name: str) -> Future[None]:
        return self.directory.delete_profile(name)

    def append_event(
        self,
        session_id: str,
        seq: int,
        at: float,
        type: str,  # noqa: A002
        body: dict[str, Any],
    ) -> None:
        self.feed.append(EventRecord(session_id, seq, at, type, body))

    def events(
        self,
        session_id: str,
        after: int = 0,
        limit: int = 1000,
        types: Collection[str] | None = None,
    ) -> list[EventRecord]:
        return self.feed._read(session_id, after, limit, types)

    def last_seq(self, session_id: str) -> int:
        return self.feed._last_seq(session_id)
