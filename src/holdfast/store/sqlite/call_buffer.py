"""Calls and contents that are accepted and not committed yet.

Calls come by the thousand a second, so nobody waits for them to be written. They gather here; the
writer takes what is there a few dozen times a second, and until it is committed readers find it
here. A call that began and ended between two of these rounds is written once. When the disk fails
everything stays in the buffer and is tried again; when the buffer is full, `has_room` is false.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from array import array
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field

from holdfast.model.call import CallRecord
from holdfast.store.sqlite import call_rows, value_uses
from holdfast.store.sqlite.packed_calls import PackedCalls
from holdfast.store.sqlite.reader_pool import Row
from holdfast.store.sqlite.value_keys import keys_of_cids
from holdfast.store.sqlite.writer_thread import WriterThread
from holdfast.store.store_errors import StoreProblem
from holdfast.store.store_warnings import StoreWarnings

MAX_ROWS = 50_000
MAX_BYTES = 64 * 1024 * 1024
RETRY_SECONDS = 1.0
ROOM_SECONDS = 10.0
# Calls that come in batches touch pages all over the indexes, so many are written together.
GATHER_SECONDS = 0.25
GATHER_ROWS = 15_000
GATHER_BYTES = 8 * 1024 * 1024
QUIET_SECONDS = 0.5
ROW_BYTES = 400  # what a row without its contents is worth
_MAX_MOVED = 100

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
_MOVE_PARENT = "UPDATE calls SET parent = ? WHERE parent = ? AND session = ?"
_PUT_FUNCTION = (
    "INSERT INTO functions (id, document) VALUES (?, ?) "
    "ON CONFLICT (id) DO UPDATE SET document = excluded.document"
)
_COUNT_CALLS = "UPDATE functions SET calls = calls + ? WHERE id = ?"

MovedNumbers = dict[tuple[int, int], int]
"""The new number of a call, by its session and the number that it had."""
StoredContent = tuple[bytes, str]
"""A value's bytes, and its preview in JSON."""


@dataclass
class QueuedRows:
    """What waits to be written; later versions of a call replace earlier ones."""

    calls: dict[int, CallRecord] = field(default_factory=dict)
    contents: dict[bytes, StoredContent] = field(default_factory=dict)
    functions: dict[int, str] = field(default_factory=dict)
    stacks: dict[int, tuple[str, int]] = field(default_factory=dict)  # and when each came
    calls_by_function: Counter[int] = field(default_factory=Counter)
    packed: list[PackedCalls] = field(default_factory=list)
    packed_rows: int = 0
    size: int = 0

    def merge(self, later: QueuedRows) -> None:
        self.calls.update(later.calls)
        self.contents.update(later.contents)
        self.functions.update(later.functions)
        self.stacks.update(later.stacks)
        self.calls_by_function.update(later.calls_by_function)
        self.packed += later.packed
        self.packed_rows += later.packed_rows
        self.size += later.size

    def write(self, connection: sqlite3.Connection) -> MovedNumbers:
        """Write all of it. Return the calls that got another number."""
        connection.executemany(
            _INSERT_CONTENT, [(cid, *content) for cid, content in self.contents.items()]
        )
        stacks = [(stack, frames, came) for stack, (frames, came) in self.stacks.items()]
        connection.executemany(_PUT_STACK, stacks)
        connection.executemany(_PUT_FUNCTION, self.functions.items())
        rows = [call_rows.encode_call(record) for record in self.calls.values()]
        connection.executemany(_INSERT_CALL, rows)
        value_uses.add(connection, [(key, row[0]) for row in rows for key in keys_of_cids(row[8])])
        moved: MovedNumbers = {}
        used_stacks = [(row[0], row[6]) for row in rows]
        for packed in self.packed:
            moved.update(_write_packed(connection, packed))
            if packed.rows:  # of so many the newest will do
                newest = max(row[0] for row in packed.rows)
                used_stacks += [(newest, stack) for stack in {row[6] for row in packed.rows}]
        connection.executemany(_USE_STACK, used_stacks)
        counts = [(count, function) for function, count in self.calls_by_function.items()]
        connection.executemany(_COUNT_CALLS, counts)
        return moved


def _write_packed(connection: sqlite3.Connection, packed: PackedCalls) -> MovedNumbers:
    before = connection.total_changes
    connection.executemany(INSERT_PACKED, packed.rows)
    moved: dict[int, int] = {}
    if connection.total_changes - before < len(packed.rows):
        moved = _renumber(connection, packed.rows)
    users = array("q", [moved.get(user, user) for user in packed.users]) if moved else packed.users
    value_uses.note(connection, packed.keys, users)
    return {(packed.rows[0][1], number): other for number, other in moved.items()}


def _renumber(connection: sqlite3.Connection, rows: list[Row]) -> dict[int, int]:
    """Insert rows some of whose numbers were taken; return the numbers that changed.

    A number is taken by the same call, which came before, or, once in a lifetime, by one of
    another application that was made at the very same moment. That one gets the next free number.
    """
    moved: dict[int, int] = {}
    for row in rows:
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


class CallBuffer:
    """Every method may be called on any thread. `settle` and `wait_for_room` block."""

    def __init__(self, writer: WriterThread, warnings: StoreWarnings) -> None:
        self._writer = writer
        self._warnings = warnings
        self._changed = threading.Condition()
        self._coming = QueuedRows()
        self._going = QueuedRows()
        self._scheduled = False
        self._gathering = False
        self._trouble: Exception | None = None
        self._closed = False
        self.is_behind = False
        """Whether something could not be written. For the writer's thread."""
        self._moved: MovedNumbers = {}  # of the writer's thread
        self._unsorted = True  # there may be some of an earlier run
        self._quiet: threading.Timer | None = None
        self._sort_when_quiet()

    # -- adding ----------------------------------------------------------------------------------

    def add_call(self, record: CallRecord, *, is_new: bool) -> None:
        with self._changed:
            if is_new:
                self._coming.calls_by_function[record.function.id] += 1
            self._coming.calls[record.number] = record
            self._add_size(ROW_BYTES)

    def add_packed(self, packed: PackedCalls) -> None:
        with self._changed:
            coming = self._coming
            coming.packed.append(packed)
            coming.calls_by_function.update(packed.calls_by_function)
            coming.packed_rows += len(packed.rows)
            coming.size += packed.size + ROW_BYTES * len(packed.rows)
            if coming.packed_rows < GATHER_ROWS and coming.size < GATHER_BYTES:
                self._schedule_soon()
            else:
                self._schedule()

    def add_content(self, key: bytes, data: bytes, preview: str) -> None:
        with self._changed:
            self._coming.contents[key] = data, preview
            self._add_size(len(data) + ROW_BYTES)

    def add_stack(self, stack: int, frames: str) -> None:
        with self._changed:
            self._coming.stacks[stack] = frames, time.time_ns()
            self._add_size(len(frames))

    def add_function(self, number: int, document: str) -> None:
        with self._changed:
            self._coming.functions[number] = document
            self._add_size(ROW_BYTES)

    # -- finding ---------------------------------------------------------------------------------

    def call(self, number: int) -> CallRecord | None:
        with self._changed:
            return self._coming.calls.get(number) or self._going.calls.get(number)

    def content(self, key: bytes) -> StoredContent | None:
        with self._changed:
            return self._coming.contents.get(key) or self._going.contents.get(key)

    def stack(self, stack: int) -> str | None:
        with self._changed:
            queued = self._coming.stacks.get(stack) or self._going.stacks.get(stack)
        return None if queued is None else queued[0]

    @property
    def has_batches(self) -> bool:
        return bool(self._coming.packed_rows or self._going.packed_rows)

    @property
    def is_idle(self) -> bool:
        return not self._coming.size and not self._going.size

    # -- writing ---------------------------------------------------------------------------------

    def settle(self) -> None:
        """Everything added so far is in the database after this, unless the disk fails."""
        if not self.is_idle:
            self.schedule()
            self._writer.submit(lambda connection: None).result()

    def schedule(self) -> None:
        """Everything added so far is written before whatever is submitted next."""
        with self._changed:
            if self._coming.size:
                self._schedule()

    def _add_size(self, size: int) -> None:
        self._coming.size += size
        self._schedule()

    def _schedule_soon(self) -> None:
        if not (self._scheduled or self._gathering or self._closed):
            self._gathering = True
            _start_timer(GATHER_SECONDS, self._end_gathering)

    def _end_gathering(self) -> None:
        with self._changed:
            self._gathering = False
            if self._coming.size:
                self._schedule()

    def _schedule(self) -> None:
        if not self._scheduled and not self._closed:
            self._scheduled = True
            self._writer.submit(self._flush, lazy=True).add_done_callback(self._finish_flush)

    def _flush(self, connection: sqlite3.Connection) -> None:
        """Runs on the writer's thread, and again, with more rows, if its transaction is lost."""
        with self._changed:
            coming, self._coming = self._coming, QueuedRows()
            self._going.merge(coming)
            self._scheduled = False
        self.is_behind = True
        self._moved.update(self._going.write(connection))
        while len(self._moved) > _MAX_MOVED:
            del self._moved[next(iter(self._moved))]
        # The calls within such a call name it by its first number, and may come later.
        for (session, number), other in self._moved.items():
            connection.execute(_MOVE_PARENT, (other, number, session))
        self.is_behind = False

    def _finish_flush(self, done: Future[None]) -> None:
        error = done.exception()
        with self._changed:
            self._trouble = error if isinstance(error, Exception) else None
            if error is None:
                self._unsorted = self._unsorted or self._going.packed_rows > 0
                self._going = QueuedRows()
                self._sort_when_quiet()
            self._changed.notify_all()
        if error is not None:
            self._warnings.add(
                "STORE_CALLS_NOT_WRITTEN",
                f"Calls could not be written ({error}); they are kept in memory and tried again.",
            )
            _start_timer(RETRY_SECONDS, self._retry)

    def _retry(self) -> None:
        with self._changed:
            self._schedule()

    def close(self) -> None:
        with self._changed:
            if self._coming.size:
                self._schedule()
            self._closed = True
            if self._quiet is not None:
                self._quiet.cancel()

    # -- room ------------------------------------------------------------------------------------

    @property
    def has_room(self) -> bool:
        coming, going = self._coming, self._going
        rows = len(coming.calls) + len(going.calls) + coming.packed_rows + going.packed_rows
        return rows < MAX_ROWS and coming.size + going.size < MAX_BYTES

    def wait_for_room(self) -> None:
        """Raise StoreProblem when what came cannot be written."""
        with self._changed:
            if not self._changed.wait_for(lambda: self.has_room, ROOM_SECONDS):
                raise StoreProblem(
                    f"Calls cannot be written as fast as they come: {self._trouble or 'too many'}."
                )

    # -- sorting uses in -------------------------------------------------------------------------

    def _sort_when_quiet(self) -> None:
        if self._unsorted and self._quiet is None and not self._closed:
            self._quiet = _start_timer(QUIET_SECONDS, self._sort_unless_busy)

    def _sort_unless_busy(self) -> None:
        with self._changed:
            self._quiet = None
            if not self.is_idle:
                self._sort_when_quiet()
                return
        self._writer.submit(self.sort_uses).add_done_callback(self._finish_sorting)

    def sort_uses(self, connection: sqlite3.Connection) -> None:
        self._unsorted = value_uses.sort_in(connection)

    def _finish_sorting(self, done: Future[None]) -> None:
        if done.exception() is None and self._unsorted:
            self._sort_unless_busy()


def _start_timer(seconds: float, work: Callable[[], None]) -> threading.Timer:
    timer = threading.Timer(seconds, work)
    timer.daemon = True
    timer.start()
    return timer
