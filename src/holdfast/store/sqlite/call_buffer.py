"""Calls and contents that are accepted and not committed yet.

Calls come by the thousand a second, so nobody waits for them to be committed. Each is in the
journal when it is accepted, and gathers here; the writer takes what is there four times a second,
and at once when it is much or somebody reads; until it is committed readers find it here. A call
that began and ended between two of these rounds is written once. When the disk fails everything
stays in the buffer and is tried again, and what the journal cannot take is refused; when the buffer
is full, `has_room` is false.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future

from holdfast import timings
from holdfast.model.call import CallRecord
from holdfast.model.call_batch import CallBatch
from holdfast.store.interface import Bell
from holdfast.store.sqlite import value_uses
from holdfast.store.sqlite.call_arrivals import CallArrivals
from holdfast.store.sqlite.call_journal import CallJournal, Entry
from holdfast.store.sqlite.packed_calls import pack_batch
from holdfast.store.sqlite.queued_rows import (
    MovedNumbers,
    QueuedRows,
    StoredContent,
    encode_batch,
    encode_record,
    move_parents,
)
from holdfast.store.sqlite.writer_thread import WriterThread
from holdfast.store.store_errors import StoreProblem
from holdfast.store.store_warnings import StoreWarnings

MAX_ROWS = 50_000
MAX_BYTES = 64 * 1024 * 1024
RETRY_SECONDS = 1.0
# Calls touch pages all over the indexes, so many are written together.
GATHER_SECONDS = 0.25
GATHER_ROWS = 15_000
GATHER_BYTES = 8 * 1024 * 1024
QUIET_SECONDS = 0.5
_NOTE_DONE = "UPDATE journal SET done = ?"
_MAX_MOVED = 100


class CallBuffer:
    """Every method may be called on any thread. `settle` and `wait_for_room` block."""

    def __init__(
        self, writer: WriterThread, journal: CallJournal, warnings: StoreWarnings, bell: Bell
    ) -> None:
        self._writer = writer
        self.arrivals = CallArrivals(bell)
        self._journal = journal
        self._journaled = 0  # the last file of the journal whose entries are in `_going`
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
        entry = encode_record(record, is_new)
        with self._changed:
            self._journal.append(entry)
            self._coming.add_call(record, is_new)
            self._gather()
        self.arrivals.add((record.number,))

    def add_batch(self, batch: CallBatch) -> None:
        packed = pack_batch(batch)
        entry = encode_batch(batch, packed)
        with self._changed:
            self._journal.append(entry)
            self._coming.add_packed(packed)
            self._gather()
        self.arrivals.add([row[0] for row in packed.rows])

    def add_content(self, key: bytes, data: bytes, preview: str) -> None:
        with self._changed:
            self._add(("content", key, data, preview))

    def add_stack(self, stack: int, frames: str) -> None:
        with self._changed:
            self._add(("stack", stack, frames, time.time_ns()))

    def add_function(self, number: int, document: str) -> None:
        with self._changed:
            self._add(("function", number, document))

    def _add(self, entry: Entry) -> None:
        self._journal.append(entry)
        self._coming.add_entry(entry)
        self._gather()

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

    def _gather(self) -> None:
        coming = self._coming
        if coming.packed_rows >= GATHER_ROWS or coming.size >= GATHER_BYTES:
            self._schedule()
        elif not (self._scheduled or self._gathering or self._closed):
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
            self._journaled = self._journal.end_file()
            self._scheduled = False
        self.is_behind = True
        moved = self._going.write(connection)
        if moved:
            self.arrivals.add(moved.values())
        self._moved.update(moved)
        while len(self._moved) > _MAX_MOVED:
            del self._moved[next(iter(self._moved))]
        move_parents(connection, self._moved)
        connection.execute(_NOTE_DONE, (self._journaled,))
        self.is_behind = False

    def _finish_flush(self, done: Future[None]) -> None:
        error = done.exception()
        with self._changed:
            self._trouble = error if isinstance(error, Exception) else None
            if error is None:
                self._unsorted = self._unsorted or self._going.packed_rows > 0
                self._going = QueuedRows()
                self._journal.free_files(self._journaled)
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

    def close_journal(self) -> None:
        """After the last commit."""
        with self._changed:
            self._journal.close()

    # -- room ------------------------------------------------------------------------------------

    @property
    def has_room(self) -> bool:
        coming, going = self._coming, self._going
        rows = len(coming.calls) + len(going.calls) + coming.packed_rows + going.packed_rows
        return rows < MAX_ROWS and coming.size + going.size < MAX_BYTES

    def wait_for_room(self) -> None:
        """Raise StoreProblem when what came cannot be written."""
        with self._changed:
            if not self._changed.wait_for(lambda: self.has_room, timings.TIMINGS.call_room):
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
