"""The one thread that writes.

It takes what has gathered in the queue and commits it in one transaction, each operation in a
savepoint so that a bad one fails alone. When the transaction itself is lost (SQLite may roll it
back on a full disk), its parts are tried one by one. Events that meet a failing disk are kept and
tried again before whatever comes next.
"""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from dataclasses import dataclass, field

from holdfast.store.pending_write import PendingWrite
from holdfast.store.sqlite.database_check import warn_of_damage
from holdfast.store.sqlite.write_queue import EventRow, Item, Write, WriteQueue
from holdfast.store.store_errors import StoreProblem
from holdfast.store.store_warnings import StoreWarnings

BATCH = 1000
MAX_KEPT = 10_000
MAX_KEPT_BYTES = 32 * 1024 * 1024
RETRY_SECONDS = 1.0

_INSERT_EVENT = "INSERT INTO events (session_id, seq, at, type, body) VALUES (?, ?, ?, ?, ?)"
# The operation caused these. The disk caused any other error of SQLite, which may pass.
_REFUSALS = (
    sqlite3.IntegrityError,
    sqlite3.DataError,
    sqlite3.ProgrammingError,
    sqlite3.InterfaceError,
    ValueError,
    OverflowError,
)

_log = logging.getLogger(__name__)

Unit = Write | list[EventRow]


@dataclass(frozen=True)
class Outcome:
    """Of one unit: `error` when all of it failed, `refused` for single events, by index."""

    error: Exception | None = None
    refused: dict[int, Exception] = field(default_factory=dict)


class WriterThread:
    """Owns the writing connection: nobody else uses it once the thread runs."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        warnings: StoreWarnings,
        queue: WriteQueue | None = None,
        on_commit: Callable[[], None] = lambda: None,
    ) -> None:
        self.queue = queue or WriteQueue()
        self._on_commit = on_commit
        self._connection = connection
        self._warnings = warnings
        self._kept: list[EventRow] = []
        self._trouble: StoreProblem | None = None
        self._thread = threading.Thread(target=self._loop, name="holdfast-store", daemon=True)
        self._thread.start()

    def submit(
        self,
        run: Callable[[sqlite3.Connection], None],
        *,
        forgets: str | None = None,
        lazy: bool = False,
    ) -> PendingWrite:
        write = Write(run, forgets=forgets, lazy=lazy)
        if not self.queue.put_write(write):
            write.future.set_exception(StoreProblem("The store is closed."))
        return write.future

    def append(self, row: EventRow) -> None:
        if not self.queue.put_event(row, may_block=not self._is_me()):
            self.queue.refuse_event()

    def refuse(self, session_id: str, seq: int, event_type: str, error: Exception) -> None:
        """Count an event that cannot be queued, and add a warning."""
        self._warn_refused(session_id, seq, event_type, error)
        self.queue.refuse_event()

    def catch_up(self) -> None:
        """Wait for the writes submitted so far. They finish in order, so the last one is enough."""
        last = self.queue.last_write
        if last is not None and not self._is_me():
            wait([last])

    def flush(self) -> None:
        self.submit(lambda connection: None).result()
        if self._trouble is not None:
            raise self._trouble

    def close(self) -> None:
        self.queue.close()
        self._thread.join()

    def _is_me(self) -> bool:
        """A future's callbacks run on our thread, which cannot wait for itself."""
        return threading.current_thread() is self._thread

    def _loop(self) -> None:
        while (batch := self._take()) is not None:
            self._commit([*_units(self._kept), *_units(batch)])
        self._finish()

    def _take(self) -> list[Item] | None:
        if self._kept:
            return self.queue.take(sys.maxsize, patience=RETRY_SECONDS)
        return self.queue.take(BATCH)

    def _commit(self, units: list[Unit]) -> None:
        try:
            outcomes = self._transact(units)
        except Exception as error:
            # The thread must outlive its own mistakes: callers wait for it.
            _log.exception("The store's writer met an error of its own.")
            outcomes = [Outcome(error)] * len(units)
        self._settle(units, outcomes)

    def _transact(self, units: list[Unit]) -> list[Outcome]:
        self._roll_back()
        to_disk = any(isinstance(unit, Write) and unit.lazy for unit in units)
        try:
            self._connection.execute(f"PRAGMA synchronous = {'FULL' if to_disk else 'NORMAL'}")
            self._connection.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            # Every unit would wait for the same lock in turn, so all fail at once.
            return [Outcome(error)] * len(units)
        try:
            outcomes = [self._run_alone(unit) for unit in units]
            self._connection.execute("COMMIT")
            self._on_commit()
            return outcomes
        except sqlite3.Error as error:
            self._roll_back()
            if len(units) == 1:
                return [Outcome(error)]
        return [self._transact([unit])[0] for unit in units]

    def _roll_back(self) -> None:
        if self._connection.in_transaction:
            with contextlib.suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")

    def _run_alone(self, unit: Unit) -> Outcome:
        self._connection.execute("SAVEPOINT unit")
        try:
            outcome = self._run(unit)
        except Exception as error:  # whatever an operation raises, its neighbours go on
            if not self._connection.in_transaction:
                raise
            self._connection.execute("ROLLBACK TO unit")
            outcome = Outcome(error)
        self._connection.execute("RELEASE unit")
        return outcome

    def _run(self, unit: Unit) -> Outcome:
        if isinstance(unit, Write):
            unit.run(self._connection)
            return Outcome()
        return self._insert(unit)

    def _insert(self, rows: list[EventRow]) -> Outcome:
        try:
            self._connection.executemany(_INSERT_EVENT, rows)
            return Outcome()
        except _REFUSALS:
            self._connection.execute("ROLLBACK TO unit")
        refused: dict[int, Exception] = {}
        for index, row in enumerate(rows):
            try:
                self._connection.execute(_INSERT_EVENT, row)
            except _REFUSALS as error:
                refused[index] = error
        return Outcome(refused=refused)

    def _settle(self, units: list[Unit], outcomes: list[Outcome]) -> None:
        """Take each unit out of the queue, or keep it. Then answer whoever waits."""
        self._kept, self._trouble = [], None
        for unit, outcome in zip(units, outcomes, strict=True):
            warn_of_damage(outcome.error, self._warnings)
            if isinstance(unit, list):
                self._settle_events(unit, outcome)
            elif unit.forgets is not None and outcome.error is None:
                self._forget(unit.forgets)
        self._drop_excess_events()
        for unit, outcome in zip(units, outcomes, strict=True):
            if isinstance(unit, Write):
                _answer(unit.future, outcome.error)

    def _settle_events(self, rows: list[EventRow], outcome: Outcome) -> None:
        if outcome.error is not None:
            self._kept += rows
            self._trouble = _problem(outcome.error)
            self._warnings.add(
                "STORE_EVENTS_NOT_WRITTEN",
                f"Events could not be written ({outcome.error}); they are kept in memory and "
                "tried again.",
            )
            return
        for index, error in outcome.refused.items():
            row = rows[index]
            self._warn_refused(row.session_id, row.seq, row.type, error)
        self.queue.drop([rows[index] for index in outcome.refused])
        self.queue.settle(row for index, row in enumerate(rows) if index not in outcome.refused)

    def _warn_refused(self, session_id: str, seq: int, event_type: str, error: Exception) -> None:
        self._warnings.add(
            "STORE_EVENT_REFUSED",
            f"Event {seq} of session {session_id} was not stored: {error}.",
            about=(session_id, seq),
            session_id=session_id,
            seq=seq,
            type=event_type,
        )

    def _forget(self, session_id: str) -> None:
        self.queue.settle(row for row in self._kept if row.session_id == session_id)
        self._kept = [row for row in self._kept if row.session_id != session_id]

    def _drop_excess_events(self) -> None:
        """Give up the oldest when there are too many: the latest are the most useful."""
        room, first = MAX_KEPT_BYTES, len(self._kept)
        while first > 0 and len(self._kept) - first < MAX_KEPT:
            room -= len(self._kept[first - 1].body)
            if room < 0:
                break
            first -= 1
        if first > 0:
            self._warn_dropped()
            self.queue.drop(self._kept[:first])
            del self._kept[:first]

    def _warn_dropped(self) -> None:
        self._warnings.add(
            "STORE_EVENTS_DROPPED",
            "Events were dropped because they could not be written; `dropped_events` counts them.",
        )

    def _finish(self) -> None:
        """Try what is kept once more. Count what still fails as dropped."""
        if self._kept:
            self._commit(_units(self._kept))
        if self._kept:
            self._warn_dropped()
            self.queue.drop(self._kept)
            self._kept = []
        with contextlib.suppress(sqlite3.Error):
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        self._connection.close()


def _units(items: list[EventRow] | list[Item]) -> list[Unit]:
    """Neighbouring events as one unit: they are inserted together."""
    units: list[Unit] = []
    for item in items:
        if isinstance(item, Write):
            units.append(item)
        elif units and isinstance(units[-1], list):
            units[-1].append(item)
        else:
            units.append([item])
    return units


def _answer(future: Future[None], error: Exception | None) -> None:
    if error is None:
        future.set_result(None)
    else:
        future.set_exception(_problem(error))


def _problem(error: Exception) -> StoreProblem:
    if isinstance(error, StoreProblem):
        return error
    if isinstance(error, _REFUSALS):
        hint = "Correct what was written; trying the same again will not help."
        problem = StoreProblem(f"The store refused a write: {error}.", hint=hint)
    else:
        problem = StoreProblem(f"The store could not write: {error}.")
    problem.__cause__ = error
    return problem
