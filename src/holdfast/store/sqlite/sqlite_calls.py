"""Calls in SQLite. They are read from the buffer or from disk, and pruned in small steps."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from typing import Any

from holdfast.model.call import CallRecord, Function
from holdfast.model.call_batch import CallBatch
from holdfast.model.call_query import CallQuery
from holdfast.model.call_span import CallRange
from holdfast.store.interface import DroppedCalls
from holdfast.store.pending_write import PendingWrite
from holdfast.store.sqlite import call_pruning, call_rows
from holdfast.store.sqlite.call_buffer import CallBuffer
from holdfast.store.sqlite.call_row_reader import CallRowReader
from holdfast.store.sqlite.call_spans import CallSpanReader
from holdfast.store.sqlite.database import Database
from holdfast.store.sqlite.document_codec import decode, encode
from holdfast.store.sqlite.packed_calls import session_number

_UNUSED_STACKS = "SELECT id FROM stacks WHERE last < (SELECT min(id) FROM calls)"
_DROP_STACK = "DELETE FROM stacks WHERE id = ? AND last < (SELECT min(id) FROM calls)"


class SqliteCallLog:
    def __init__(self, database: Database, buffer: CallBuffer, rows: CallRowReader) -> None:
        self._database = database
        self._buffer = buffer
        self._rows = rows
        self._spans = CallSpanReader(database, rows.functions)

    # -- writing ---------------------------------------------------------------------------------

    def append_call(self, record: CallRecord) -> None:
        self._buffer.add_call(record, is_new=True)

    def update_call(self, record: CallRecord) -> None:
        self._buffer.add_call(record, is_new=False)

    def append_batch(self, batch: CallBatch) -> None:
        self._buffer.add_batch(batch)

    def put_function(self, function: Function) -> None:
        self._rows.functions[function.id] = function
        self._buffer.add_function(function.id, encode(call_rows.function_document(function)))

    def put_stack(self, stack: int, frames: Sequence[Any]) -> None:
        self._buffer.add_stack(stack, encode(frames))

    @property
    def has_room(self) -> bool:
        return self._buffer.has_room

    async def wait_for_room(self) -> None:
        if not self._buffer.has_room:
            await self._database.run(self._buffer.wait_for_room)

    @property
    def is_idle(self) -> bool:
        return self._buffer.is_idle

    # -- reading ---------------------------------------------------------------------------------

    async def call(self, number: int) -> CallRecord | None:
        queued = self._buffer.call(number)
        return queued if queued is not None else await self._database.run(self._call, number)

    def _call(self, number: int) -> CallRecord | None:
        if self._buffer.has_batches:
            self._buffer.settle()
        records = self._rows.read(call_rows.ONE, number)
        return records[0] if records else None

    async def calls(self, numbers: Sequence[int]) -> dict[int, CallRecord]:
        return await self._database.run(self._calls, numbers)

    def _calls(self, numbers: Sequence[int]) -> dict[int, CallRecord]:
        self._buffer.settle()
        rows = self._database.rows(call_rows.SEVERAL, (encode(numbers),))
        return {record.number: record for record in map(self._rows.decode, rows)}

    async def newest(self, query: CallQuery, limit: int) -> list[CallRecord]:
        return await self._database.run(self._newest, query, limit)

    def _newest(self, query: CallQuery, limit: int) -> list[CallRecord]:
        self._buffer.settle()
        return [self._rows.decode(row) for row in self._rows.find(query, limit)]

    async def children(self, parents: Sequence[int], limit: int) -> list[CallRecord]:
        return await self._database.run(self._children, parents, limit)

    def _children(self, parents: Sequence[int], limit: int) -> list[CallRecord]:
        self._buffer.settle()
        children: list[CallRecord] = []
        for parent in parents:
            if len(children) < limit:
                children += self._rows.read(call_rows.CHILDREN, parent, limit - len(children))
        return children

    async def count_children(self, parents: Sequence[int], limit: int) -> dict[int, int]:
        return await self._database.run(self._count_children, parents, limit)

    def _count_children(self, parents: Sequence[int], limit: int) -> dict[int, int]:
        self._buffer.settle()
        return dict(self._database.rows(call_rows.CHILD_COUNTS, (limit, encode(parents))))

    async def spans(self, query: CallQuery, limit: int) -> CallRange:
        return await self._database.run(self._read_spans, query, limit)

    def _read_spans(self, query: CallQuery, limit: int) -> CallRange:
        self._buffer.settle()
        return self._spans.read(query, limit)

    @property
    def arrivals(self) -> int:
        return self._buffer.arrivals.count

    def arrived_after(self, arrival: int, limit: int) -> list[int] | None:
        return self._buffer.arrivals.list_after(arrival, limit)

    async def functions(self) -> list[tuple[Function, int]]:
        return await self._database.run(self._functions)

    def _functions(self) -> list[tuple[Function, int]]:
        self._buffer.settle()
        return self._rows.read_functions()

    async def stack(self, stack: int) -> list[Any]:
        queued = self._buffer.stack(stack)
        if queued is not None:
            return list(decode(queued.encode()))
        return await self._database.run(self._stack, stack)

    def _stack(self, stack: int) -> list[Any]:
        sql = "SELECT CAST(frames AS BLOB) FROM stacks WHERE id = ?"
        rows = self._database.rows(sql, (stack,))
        return list(decode(rows[0][0])) if rows else []

    async def last_number(self) -> int:
        return await self._database.run(self._number, "SELECT max(id) FROM calls")

    async def count_calls(self, session_id: str | None = None) -> int:
        if session_id is None:
            return await self._database.run(self._number, "SELECT count(*) FROM calls")
        sql = "SELECT count(*) FROM calls WHERE session = ?"
        return await self._database.run(self._number, sql, session_number(session_id))

    def _number(self, sql: str, *parameters: int) -> int:
        self._buffer.settle()
        return int(self._database.rows(sql, parameters)[0][0] or 0)

    # -- deleting --------------------------------------------------------------------------------

    def lose_running(self) -> PendingWrite:
        self._buffer.schedule()
        return self._database.writer.submit(call_pruning.lose_running)

    def delete_session(self, session_id: str) -> PendingWrite:
        session = session_number(session_id)
        self._buffer.schedule()
        return self._database.writer.submit(
            lambda connection: call_pruning.delete_session(connection, session)
        )

    async def drop_oldest(self, limit: int) -> DroppedCalls | None:
        dropped: list[DroppedCalls | None] = []
        await self._database.writer.submit(
            lambda connection: dropped.append(call_pruning.drop_oldest(connection, limit))
        )
        return dropped[-1]

    async def unused_stacks(self) -> set[int]:
        return await self._database.run(self._unused_stacks)

    def _unused_stacks(self) -> set[int]:
        self._buffer.settle()
        return {row[0] for row in self._database.rows(_UNUSED_STACKS)}

    async def drop_stacks(self, stacks: Collection[int]) -> None:
        await self.submit_drop_stacks(stacks)

    def submit_drop_stacks(self, stacks: Collection[int]) -> PendingWrite:
        def drop(connection: sqlite3.Connection) -> None:
            if not self._buffer.is_behind:  # what could not be written may have them
                connection.executemany(_DROP_STACK, [(stack,) for stack in stacks])

        self._buffer.schedule()
        return self._database.writer.submit(drop)
