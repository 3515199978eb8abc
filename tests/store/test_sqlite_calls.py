"""Calls in SQLite: which index answers which query, and what happens when the disk fails."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from call_samples import DONE, batch, call, cid, numbers
from holdfast.model.call import CallStatus
from holdfast.model.call_query import CallQuery
from holdfast.store import StoreProblem
from holdfast.store.sqlite import call_buffer, call_rows
from holdfast.store.sqlite.queued_rows import QueuedRows
from holdfast.store.sqlite.sqlite_store import SqliteStore, open_sqlite_store
from polling import wait_until


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = open_sqlite_store(tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def connection(store: SqliteStore, tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with contextlib.closing(sqlite3.connect(tmp_path / "holdfast.db")) as connection:
        yield connection


# -- speed that does not depend on how many calls there are ---------------------------------------

PLANS = [
    (CallQuery(), "SEARCH calls USING INTEGER PRIMARY KEY"),
    (CallQuery(functions=frozenset({1})), "USING INDEX calls_of_function (function_id=? AND"),
    (CallQuery(session_id="calls_0000000a"), "USING INDEX calls_of_session (session=? AND"),
    (CallQuery(status=CallStatus.EXCEPTION), "USING INDEX calls_unusual (status=? AND"),
    (
        CallQuery(functions=frozenset({1}), status=CallStatus.LOST),
        "USING INDEX calls_unusual_of_function (function_id=? AND status=? AND",
    ),
    (CallQuery(cid=cid("a")), "SEARCH uses USING PRIMARY KEY (value=? AND call_id"),
]


@pytest.mark.parametrize(("query", "index"), PLANS, ids=[index for _, index in PLANS])
def test_every_list_reads_from_an_index_and_sorts_nothing(
    connection: sqlite3.Connection, query: CallQuery, index: str
) -> None:
    *_, (sql, values) = call_rows.selections(query)  # those not sorted in yet come before
    steps = connection.execute(f"EXPLAIN QUERY PLAN {sql}", (*values, 10)).fetchall()
    plan = " | ".join(str(step[-1]) for step in steps)
    assert index in plan
    assert "SCAN" not in plan
    assert "USE TEMP B-TREE" not in plan


def test_children_are_read_from_an_index(connection: sqlite3.Connection) -> None:
    plan = connection.execute(f"EXPLAIN QUERY PLAN {call_rows.CHILDREN}", (1, 2)).fetchall()
    assert "calls_within (parent=?)" in plan[0][-1]
    assert len(plan) == 1


def test_the_uses_of_a_batch_are_found_before_and_after_they_are_sorted_in(
    store: SqliteStore, connection: sqlite3.Connection
) -> None:
    log = store.call_log
    log.append_batch(batch((1, None), (2, None)))
    assert asyncio.run(numbers(log, cid=cid("a"))) == [2, 1]
    coming = "SELECT count(*) FROM coming_uses"
    wait_until(lambda: connection.execute(coming).fetchone() == (0,), "the uses to be sorted")
    assert connection.execute("SELECT count(*) FROM uses").fetchone() == (2,)
    assert asyncio.run(numbers(log, cid=cid("a"))) == [2, 1]
    assert asyncio.run(store.contents.data(cid("a"))) == b"a"


@pytest.fixture
def uses_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Uses are not sorted in, however quiet it is."""
    monkeypatch.setattr(call_buffer, "QUIET_SECONDS", 3600.0)


def test_no_call_is_dropped_while_uses_wait_to_be_sorted_in(
    uses_wait: None, store: SqliteStore
) -> None:
    async def drop() -> None:
        store.call_log.append_batch(batch((1, None)))
        await store.call_log.last_number()
        assert await store.call_log.drop_oldest(1) is None

    asyncio.run(drop())


def test_dropped_calls_leave_no_uses(store: SqliteStore, connection: sqlite3.Connection) -> None:
    async def drop() -> None:
        for number in range(1, 31):
            args = (cid("shared"), cid(str(number)))
            store.call_log.append_call(call(number, status=DONE, args=args))
        await store.call_log.last_number()
        await store.call_log.drop_oldest(20)

    asyncio.run(drop())
    assert connection.execute("SELECT count(*) FROM uses").fetchone() == (10 * 2,)


# -- bad days ------------------------------------------------------------------------------------


def test_a_disk_that_fails_keeps_nothing_from_being_written_later(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(call_buffer, "RETRY_SECONDS", 0.01)
    failures = iter([sqlite3.OperationalError("disk is full")] * 6)
    write = QueuedRows.write
    written = threading.Event()

    def fail(rows: QueuedRows, connection: sqlite3.Connection) -> Any:
        for failure in failures:
            raise failure
        moved = write(rows, connection)
        if 1 in rows.calls:
            written.set()
        return moved

    monkeypatch.setattr(QueuedRows, "write", fail)
    store.call_log.append_call(call(1, status=DONE))
    assert asyncio.run(store.call_log.call(1)) is not None
    assert written.wait(60)
    assert asyncio.run(numbers(store.call_log)) == [1]
    assert [warning.code for warning in store.warnings] == ["STORE_CALLS_NOT_WRITTEN"]


def test_a_writer_waits_while_the_queue_is_full(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch, limits: Callable[..., None]
) -> None:
    monkeypatch.setattr(call_buffer, "MAX_ROWS", 3)
    limits(call_room=0.01)
    gate = threading.Event()
    write = QueuedRows.write

    def wait_and_write(rows: QueuedRows, connection: sqlite3.Connection) -> Any:
        gate.wait(60)
        return write(rows, connection)

    monkeypatch.setattr(QueuedRows, "write", wait_and_write)
    log = store.call_log
    for number in range(1, 4):
        assert log.has_room
        log.append_call(call(number))
    assert not log.has_room
    with pytest.raises(StoreProblem):
        asyncio.run(log.wait_for_room())
    gate.set()
    limits(call_room=60)
    asyncio.run(log.wait_for_room())
    assert asyncio.run(numbers(log)) == [3, 2, 1]
