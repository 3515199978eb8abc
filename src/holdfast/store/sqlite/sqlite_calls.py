"""Calls, and what they refer to: contents, functions, stacks, and which call used which value.

Calls come by the thousand a second, so nobody waits for them to be written. They gather in a
buffer; the writer takes what is there a few dozen times a second, and until it is committed readers
find it in the buffer. A call that began and ended between two of these rounds is written once. When
the disk fails everything stays in the buffer and is tried again; when the buffer is full, whoever
brings more has to wait (`has_room`, `wait_for_room`).

Which values calls used lies all over an index; `uses` tells how that is kept.
"""

from __future__ import annotations

import heapq
import sqlite3
import threading
import time
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from typing import Any

from holdfast.model.call import CallBreakpoint, CallRecord, CallStatus, Function, Preview
from holdfast.store.sqlite import call_pruning, value_uses
from holdfast.store.sqlite import call_rows as rows
from holdfast.store.sqlite.document_codec import (
    decode,
    decode_object,
    encode,
    encode_object,
)
from holdfast.store.sqlite.reader_pool import ReaderPool, Row
from holdfast.store.sqlite.writer_thread import WriterThread
from holdfast.store.store_errors import StoreProblem, StoreWarnings
from holdfast.wire import pickle_viewer

MAX_ROWS = 50_000
MAX_BYTES = 64 * 1024 * 1024
RETRY_SECONDS = 1.0
ROOM_SECONDS = 10.0
# Calls that come in batches touch pages all over the indexes, so many are written together.
GATHER_SECONDS = 0.25
GATHER_ROWS = 15_000
GATHER_BYTES = 8 * 1024 * 1024
QUIET_SECONDS = 0.5
_MAX_SMALL = 50_000
_ROW_BYTES = 400  # what a row without its contents is worth

_INSERT_CALL = (
    "INSERT INTO calls (id, session, function_id, call_type, status, parent, stack, duration_ns, "
    "cids, document) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET "
    "status = excluded.status, duration_ns = excluded.duration_ns, cids = excluded.cids, "
    "document = excluded.document"
)
INSERT_PACKED = (
    "INSERT OR IGNORE INTO calls (id, session, function_id, call_type, status, parent, stack, "
    "duration_ns, cids, document) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_INSERT_CONTENT = "INSERT OR IGNORE INTO contents (cid, data, preview) VALUES (?, ?, ?)"
_PUT_STACK = (
    "INSERT INTO stacks (id, frames, last) VALUES (?, ?, ?) "
    "ON CONFLICT (id) DO UPDATE SET last = max(last, excluded.last)"
)
_USE_STACK = "UPDATE stacks SET last = max(last, ?) WHERE id = ?"
_UNUSED_STACKS = "SELECT id FROM stacks WHERE last < (SELECT min(id) FROM calls)"
_DROP_STACK = "DELETE FROM stacks WHERE id = ? AND last < (SELECT min(id) FROM calls)"
_MOVE_PARENT = "UPDATE calls SET parent = ? WHERE parent = ? AND session = ?"
_MAX_MOVED = 100
_PUT_FUNCTION = (
    "INSERT INTO functions (id, document) VALUES (?, ?) "
    "ON CONFLICT (id) DO UPDATE SET document = excluded.document"
)
_COUNT_CALLS = "UPDATE functions SET calls = calls + ? WHERE id = ?"


@dataclass
class Packed:
    """Rows of calls that are complete, as they are written, and which values each used."""

    rows: list[Row] = field(default_factory=list)
    values: array[int] = field(default_factory=lambda: array("q"))  # each used…
    users: array[int] = field(default_factory=lambda: array("q"))  # …by the call at its place
    begun: Counter[int] = field(default_factory=Counter)


@dataclass
class _Batch:
    """What waits to be written; later versions of a call replace earlier ones."""

    calls: dict[int, CallRecord] = field(default_factory=dict)
    contents: dict[bytes, tuple[bytes, str]] = field(default_factory=dict)
    functions: dict[int, str] = field(default_factory=dict)
    stacks: dict[int, tuple[str, int]] = field(default_factory=dict)  # and when each came
    begun: Counter[int] = field(default_factory=Counter)
    packed: list[Packed] = field(default_factory=list)
    waiting: int = 0  # rows in `packed`
    size: int = 0

    def merge(self, later: _Batch) -> None:
        self.calls.update(later.calls)
        self.contents.update(later.contents)
        self.functions.update(later.functions)
        self.stacks.update(later.stacks)
        self.begun.update(later.begun)
        self.packed += later.packed
        self.waiting += later.waiting
        self.size += later.size

    def write(self, connection: sqlite3.Connection) -> Moved:
        """Which calls had to take another number than theirs."""
        connection.executemany(
            _INSERT_CONTENT, [(cid, *content) for cid, content in self.contents.items()]
        )
        connection.executemany(_PUT_STACK, [(each, *put) for each, put in self.stacks.items()])
        connection.executemany(_PUT_FUNCTION, self.functions.items())
        encoded = [rows.encode_call(record) for record in self.calls.values()]
        connection.executemany(_INSERT_CALL, encoded)
        value_uses.add(
            connection, [(value, row[0]) for row in encoded for value in rows.values_in(row[8])]
        )
        moved: Moved = {}
        used = [(row[0], row[6]) for row in encoded]
        for packed in self.packed:
            moved.update(_write_packed(connection, packed))
            if packed.rows:  # of so many the newest will do
                newest = max(row[0] for row in packed.rows)
                used += [(newest, stack) for stack in {row[6] for row in packed.rows}]
        connection.executemany(_USE_STACK, used)
        connection.executemany(_COUNT_CALLS, [(n, each) for each, n in self.begun.items()])
        return moved


Moved = dict[tuple[int, int], int]
"""By session and number: the number that a call has instead."""


def _write_packed(connection: sqlite3.Connection, packed: Packed) -> Moved:
    before = connection.total_changes
    connection.executemany(INSERT_PACKED, packed.rows)
    moved: dict[int, int] = {}
    if connection.total_changes - before < len(packed.rows):
        moved = _place_anew(connection, packed.rows)
    users = array("q", [moved.get(each, each) for each in packed.users]) if moved else packed.users
    value_uses.note(connection, packed.values, users)
    return {(packed.rows[0][1], number): other for number, other in moved.items()}


def _place_anew(connection: sqlite3.Connection, packed: list[Row]) -> dict[int, int]:
    """Numbers that were taken: by the same call, which came before, or, once in a lifetime, by
    one of another application that made it at the very same moment. That one moves on."""
    moved: dict[int, int] = {}
    for row in packed:
        number = int(row[0])
        while True:
            there = connection.execute(
                "SELECT session, cids FROM calls WHERE id = ?", (number,)
            ).fetchone()
            if there is None:
                connection.execute(INSERT_PACKED, (number, *row[1:]))
            if there is None or there == (row[1], row[8]):
                break
            number += 1
        if number != row[0]:
            moved[int(row[0])] = number
    return moved


@dataclass(frozen=True)
class CallQuery:
    """Which calls; None means any. `below` and `above` are exclusive bounds of their numbers."""

    functions: frozenset[int] | None = None
    session_id: str | None = None
    status: CallStatus | None = None
    call_type: str | None = None
    cid: str | None = None
    below: int | None = None
    above: int | None = None

    @property
    def bounds(self) -> tuple[int, int]:
        low = self.above if self.above is not None else -1
        return low, self.below if self.below is not None else 2**63 - 1


class CallTables:
    """Reads see every write made before them, and may wait for those: not for the event loop,
    except `content`, `preview` and `knows`, which never wait."""

    def __init__(self, writer: WriterThread, readers: ReaderPool, warnings: StoreWarnings) -> None:
        self._writer = writer
        self._readers = readers
        self._warnings = warnings
        self._changed = threading.Condition()
        self._coming = _Batch()
        self._going = _Batch()
        self._scheduled = False
        self._gathering = False
        self._trouble: Exception | None = None
        self._closed = False
        self._small: dict[str, bytes] = {}  # values read from rows of calls, by their ids
        self._moved: Moved = {}  # of the writer's thread
        self._unsorted = True  # there may be some of an earlier run
        self._quiet: threading.Timer | None = None
        self._when_quiet()

    # -- writing ---------------------------------------------------------------------------------

    def put_call(self, record: CallRecord) -> None:
        """Keep a call, and count it."""
        with self._changed:
            self._coming.begun[record.function.id] += 1
            self._coming.calls[record.number] = record
            self._grown(_ROW_BYTES)

    def update_call(self, record: CallRecord) -> None:
        """Keep a later version of a call."""
        with self._changed:
            self._coming.calls[record.number] = record
            self._grown(_ROW_BYTES)

    def put_packed(self, packed: Packed) -> None:
        """Keep calls that are complete, all of them in one transaction."""
        with self._changed:
            self._coming.packed.append(packed)
            self._coming.begun.update(packed.begun)
            self._coming.waiting += len(packed.rows)
            size = sum(len(row[8]) for row in packed.rows) + _ROW_BYTES * len(packed.rows)
            self._coming.size += size
            if self._coming.waiting < GATHER_ROWS and self._coming.size < GATHER_BYTES:
                self._soon()
            else:
                self._schedule()

    def put_content(self, cid: str, data: bytes, preview: Preview) -> None:
        with self._changed:
            self._coming.contents[bytes.fromhex(cid)] = data, encode_object(preview)
            self._grown(len(data) + _ROW_BYTES)

    def put_stack(self, stack: int, frames: str) -> None:
        with self._changed:
            self._coming.stacks[stack] = frames, time.time_ns()
            self._grown(len(frames))

    def put_function(self, function: Function) -> None:
        with self._changed:
            self._coming.functions[function.id] = encode(rows.function_document(function))
            self._grown(_ROW_BYTES)

    def _grown(self, size: int) -> None:
        self._coming.size += size
        self._schedule()

    def _soon(self) -> None:
        if not (self._scheduled or self._gathering or self._closed):
            self._gathering = True
            timer = threading.Timer(GATHER_SECONDS, self._gathered)
            timer.daemon = True
            timer.start()

    def _gathered(self) -> None:
        with self._changed:
            self._gathering = False
            if self._coming.size:
                self._schedule()

    def _schedule(self) -> None:
        if not self._scheduled and not self._closed:
            self._scheduled = True
            self._writer.submit(self._flush, lazy=True).add_done_callback(self._flushed)

    def _flush(self, connection: sqlite3.Connection) -> None:
        """On the writer's thread; again, with more, if its transaction is lost."""
        with self._changed:
            coming, self._coming = self._coming, _Batch()
            self._going.merge(coming)
            self._scheduled = False
        self._moved.update(self._going.write(connection))
        while len(self._moved) > _MAX_MOVED:
            del self._moved[next(iter(self._moved))]
        # The calls within such a call know it by the number that it gave them, whenever they come.
        for (session, number), other in self._moved.items():
            connection.execute(_MOVE_PARENT, (other, number, session))

    def _flushed(self, done: Future[None]) -> None:
        error = done.exception()
        with self._changed:
            self._trouble = error if isinstance(error, Exception) else None
            if error is None:
                self._unsorted = self._unsorted or self._going.waiting > 0
                self._going = _Batch()
                self._when_quiet()
            self._changed.notify_all()
        if error is not None:
            self._warnings.add(
                "STORE_CALLS_NOT_WRITTEN",
                f"Calls could not be written ({error}); they are kept in memory and tried again.",
            )
            timer = threading.Timer(RETRY_SECONDS, self._retry)
            timer.daemon = True
            timer.start()

    def _retry(self) -> None:
        with self._changed:
            self._grown(0)

    # -- sorting uses in -------------------------------------------------------------------------

    def _when_quiet(self) -> None:
        if self._unsorted and self._quiet is None and not self._closed:
            self._quiet = threading.Timer(QUIET_SECONDS, self._tidy)
            self._quiet.daemon = True
            self._quiet.start()

    def _tidy(self) -> None:
        with self._changed:
            self._quiet = None
            if self._coming.size or self._going.size:
                self._when_quiet()
                return
        self._writer.submit(self._sort_in).add_done_callback(self._tidied)

    def _sort_in(self, connection: sqlite3.Connection) -> None:
        self._unsorted = value_uses.sort_in(connection)

    def _tidied(self, done: Future[None]) -> None:
        if done.exception() is None and self._unsorted:
            self._tidy()

    # -- room ------------------------------------------------------------------------------------

    @property
    def has_room(self) -> bool:
        coming, going = self._coming, self._going
        return (
            len(coming.calls) + len(going.calls) + coming.waiting + going.waiting < MAX_ROWS
            and coming.size + going.size < MAX_BYTES
        )

    def wait_for_room(self, seconds: float = ROOM_SECONDS) -> None:
        """Wait until more may come; StoreProblem when what came cannot be written."""
        with self._changed:
            if not self._changed.wait_for(lambda: self.has_room, seconds):
                raise StoreProblem(
                    f"Calls cannot be written as fast as they come: {self._trouble or 'too many'}."
                )

    def close(self) -> None:
        with self._changed:
            if self._coming.size:
                self._schedule()
            self._closed = True
            if self._quiet is not None:
                self._quiet.cancel()

    # -- contents --------------------------------------------------------------------------------

    def _pending_content(self, key: bytes) -> tuple[bytes, str] | None:
        with self._changed:
            return self._coming.contents.get(key) or self._going.contents.get(key)

    def preview(self, cid: str, *, surely: bool = False) -> Preview | None:
        """None: nobody knows this content. `surely` asks for what is stored now, not lately."""
        key = bytes.fromhex(cid)
        if pending := self._pending_content(key):
            return decode_object(pending[1].encode())
        found = self._readers.rows(
            "SELECT CAST(preview AS BLOB) FROM contents WHERE cid = ?", (key,)
        )
        if found:
            return decode_object(found[0][0])
        data = self._inline(cid, surely)
        return None if data is None else pickle_viewer.preview(data)

    def data(self, cid: str) -> bytes | None:
        key = bytes.fromhex(cid)
        if pending := self._pending_content(key):
            return pending[0]
        found = self._readers.rows("SELECT data FROM contents WHERE cid = ?", (key,))
        return bytes(found[0][0]) if found else self._inline(cid)

    def _inline(self, cid: str, surely: bool = False) -> bytes | None:
        """A value that is small enough to be in the rows of the calls that used it."""
        data = None if surely else self._small.get(cid)
        if data is None:
            for row in self._primary(CallQuery(cid=cid), 4):
                data = rows.decode_call(row, {})[1].get(cid, data)
                self._decoded(row, {})
        return data

    def _decoded(self, row: Row, functions: Mapping[int, Function]) -> CallRecord:
        record, small = rows.decode_call(row, functions)
        if small:
            if len(self._small) > _MAX_SMALL:
                self._small.clear()
            self._small.update(small)
        return record

    # -- calls -----------------------------------------------------------------------------------

    def last_number(self) -> int:
        found = self._readers.rows("SELECT max(id) FROM calls")
        return int(found[0][0] or 0)

    def call(self, number: int, functions: Mapping[int, Function]) -> CallRecord | None:
        """One call, in its latest version."""
        with self._changed:
            pending = self._coming.calls.get(number) or self._going.calls.get(number)
        if pending is not None:
            return pending
        if self._coming.waiting or self._going.waiting:
            self._settle()
        found = self._readers.rows(rows.ONE, (number,))
        return self._decoded(found[0], functions) if found else None

    def newest(
        self, query: CallQuery, most: int, functions: Mapping[int, Function]
    ) -> list[CallRecord]:
        """The newest `most` calls of the part of the query that an index answers."""
        self._settle()
        found = self._primary(query, most)
        return [self._decoded(row, functions) for row in found]

    def children(
        self, parent: int, most: int, functions: Mapping[int, Function]
    ) -> list[CallRecord]:
        """The calls made within a call, oldest first."""
        self._settle()
        found = self._readers.rows(rows.CHILDREN, (parent, most))
        return [self._decoded(row, functions) for row in found]

    def stack(self, stack: int) -> list[dict[str, Any]]:
        with self._changed:
            pending = self._coming.stacks.get(stack) or self._going.stacks.get(stack)
        if pending is not None:
            return list(decode(pending[0].encode()))
        found = self._readers.rows("SELECT CAST(frames AS BLOB) FROM stacks WHERE id = ?", (stack,))
        return list(decode(found[0][0])) if found else []

    def functions(self) -> list[tuple[Function, int]]:
        """Every function with how often it was called."""
        self._settle()
        found = self._readers.rows(
            "SELECT id, calls, CAST(document AS BLOB) FROM functions ORDER BY id"
        )
        return [(rows.decode_function(row[0], row[2]), row[1]) for row in found]

    def count_of_session(self, session_id: str) -> int:
        number = rows.session_number(session_id)
        found = self._readers.rows("SELECT count(*) FROM calls WHERE session = ?", (number,))
        return int(found[0][0])

    def lose_running(self) -> None:
        """The calls that were under way when the server before us went: nobody knows of them."""

        def lose(connection: sqlite3.Connection) -> None:
            connection.execute("UPDATE calls SET status = 3 WHERE status = 0 AND status <> 1")

        wait([self._writer.submit(lose)])

    # -- what is too much ------------------------------------------------------------------------

    @property
    def is_idle(self) -> bool:
        return not self._coming.size and not self._going.size

    def excess(self, kept: int) -> int:
        """How many calls there are beyond so many."""
        return int(self._readers.rows("SELECT count(*) FROM calls")[0][0]) - kept

    def drop_oldest(self, most: int) -> tuple[int, list[str]] | None:
        """Delete so many calls that are over, or less: how many they were, and what they used.
        None: not now."""
        found: list[tuple[int, list[str]] | None] = []
        self._writer.submit(lambda each: found.append(call_pruning.oldest(each, most))).result()
        return found[-1]

    def unused_stacks(self) -> set[int]:
        """The stacks that no call has which is still there."""
        return {row[0] for row in self._readers.rows(_UNUSED_STACKS)}

    def drop_stacks(self, stacks: Iterable[int]) -> None:
        """Delete those of them that no call has, nor one that was put before this."""
        self._settle()

        def drop(connection: sqlite3.Connection) -> None:
            if not self._going.size:  # what could not be written may have them
                connection.executemany(_DROP_STACK, [(each,) for each in stacks])

        self._writer.submit(drop).result()

    def drop_contents(self, cids: Sequence[str], may_go: Callable[[str], bool]) -> int | None:
        """Delete the values that no call uses, of those that still may go when their turn comes.
        None: not now. Calls that were put before this are written first."""
        self._settle()
        gone: list[int | None] = []

        def drop(connection: sqlite3.Connection) -> None:
            # What could not be written may use them.
            could = not self._going.size
            gone.append(call_pruning.contents(connection, cids, may_go) if could else None)

        self._writer.submit(drop).result()
        return gone[-1]

    def delete_session(self, session_id: str) -> Future[None]:
        """Delete its calls; the contents stay, for others may use them."""
        session = rows.session_number(session_id)

        def delete(connection: sqlite3.Connection) -> None:
            while value_uses.sort_in(connection):
                pass
            connection.execute(
                "DELETE FROM uses WHERE call_id IN (SELECT id FROM calls WHERE session = ?)",
                (session,),
            )
            connection.execute("DELETE FROM calls WHERE session = ?", (session,))

        return self._writer.submit(delete)

    def _settle(self) -> None:
        """Everything put so far is in the database after this, unless the disk fails."""
        with self._changed:
            idle = not self._coming.size and not self._going.size
            if self._coming.size:
                self._schedule()
        if not idle:
            self._writer.submit(lambda connection: None).result()

    def _primary(self, query: CallQuery, most: int) -> list[Row]:
        # In this order: a use that is sorted in meanwhile is seen twice rather than not at all.
        coming = [] if query.cid is None else self._coming_users(query, query.cid, most)
        found = [row for each in coming for row in self._readers.rows(rows.ONE, (each,))]
        found += [
            row
            for sql, values in rows.selections(query)
            for row in self._readers.rows(sql, (*values, most))
        ]
        each = {int(row[0]): row for row in found}
        return [each[number] for number in sorted(each, reverse=True)[:most]]

    def _coming_users(self, query: CallQuery, cid: str, most: int) -> list[int]:
        """The newest calls that used a value, of those whose uses are not sorted in yet."""
        key = rows.value_key(bytes.fromhex(cid))
        low, high = query.bounds
        found = {
            user
            for keys, users in self._readers.rows(value_uses.COMING, (value_uses.pattern(key),))
            for user in value_uses.users_in(keys, users, key)
            if low < user < high
        }
        return heapq.nlargest(most, found)

    # -- breakpoints -----------------------------------------------------------------------------

    def breakpoints(self) -> list[CallBreakpoint]:
        found = self._readers.rows(
            "SELECT id, CAST(document AS BLOB) FROM call_breakpoints ORDER BY position"
        )
        return list(self._sound(found))

    def _sound(self, found: Sequence[Row]) -> Iterator[CallBreakpoint]:
        for point_id, document in found:
            try:
                yield rows.decode_breakpoint(document)
            except (ValueError, TypeError, KeyError) as error:
                self._warnings.add(
                    "STORE_ROW_DAMAGED",
                    f"Call breakpoint {point_id} could not be read ({error}); it is not in force.",
                    about=("call_breakpoints", point_id),
                )

    def put_breakpoints(self, points: Sequence[CallBreakpoint]) -> Future[None]:
        documents = [
            (point.id, position, encode(rows.breakpoint_document(point)))
            for position, point in enumerate(points)
        ]

        def replace(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM call_breakpoints")
            connection.executemany(
                "INSERT INTO call_breakpoints (id, position, document) VALUES (?, ?, ?)", documents
            )

        return self._writer.submit(replace)
