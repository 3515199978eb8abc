"""Calls in the store: what was put is read back, from memory or disk, by the right index."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import pickle
import sqlite3
import threading
import time
from array import array
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.model.call import CallBreakpoint, CallRecord, CallStatus, Function, When
from holdfast.store import CallQuery, CallTables, Packed, Store, StoreProblem, open_store
from holdfast.store.sqlite import call_rows
from holdfast.store.sqlite.value_keys import key_of_cid
from holdfast.wire import batch_format, batch_parser
from polling import wait_until

ADD = Function(1, "add", qualname="Calculator.add", signature="(a, b)")
SUB = Function(2, "sub")
FUNCTIONS = {1: ADD, 2: SUB}


def cid(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def call(number: int, **fields: Any) -> CallRecord:
    given = {"session_id": "calls_0000000a", "function": ADD, "call_type": "proxy", **fields}
    return CallRecord(number=number, **given)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(tmp_path / "data")
    yield opened
    opened.close()


@pytest.fixture
def tables(store: Store) -> CallTables:
    return store.calls


def numbers(tables: CallTables, most: int = 100, **query: Any) -> list[int]:
    return [each.number for each in tables.newest(CallQuery(**query), most, FUNCTIONS)]


WHOLE = call(
    7_000_001,
    status=CallStatus.EXCEPTION,
    target=cid("target"),
    args=(cid("a"), cid("b"), cid("a")),
    kwargs={"x": cid("a"), "y": cid("c")},
    exception=cid("error"),
    exception_type="ValueError",
    exception_message="wrong",
    stack=-5,
    parent=3,
    thread={"id": 1, "name": "main"},
    task="Task-1",
    started_at=1.5,
    completed_at=2.5,
    duration_ns=1_000_000_000,
    changed={"args": {"0": cid("d")}, "target": cid("t2")},
    decision={"action": "skip", "by": "me"},
    marker="generator",
)


def test_a_call_comes_back_as_it_was(tables: CallTables) -> None:
    tables.put_call(WHOLE)
    assert tables.call(WHOLE.number, FUNCTIONS) == WHOLE  # from memory
    assert tables.newest(CallQuery(), 1, FUNCTIONS) == [WHOLE]  # from disk
    assert tables.call(WHOLE.number, FUNCTIONS) == WHOLE
    assert tables.call(8, FUNCTIONS) is None


def test_the_latest_version_of_a_call_counts(tables: CallTables) -> None:
    tables.put_function(ADD)
    tables.put_call(call(1))
    tables.update_call(call(1, status=CallStatus.SUCCESS))
    tables.put_call(call(2))
    assert [each.status.value for each in tables.newest(CallQuery(), 9, FUNCTIONS)] == [
        *("running", "success"),
    ]
    tables.update_call(call(2, status=CallStatus.SUCCESS, result=cid("late")))
    assert numbers(tables, status=CallStatus.RUNNING) == []
    assert numbers(tables, cid=cid("late")) == [2]
    assert tables.functions() == [(ADD, 2)]


def test_each_question_finds_its_calls(tables: CallTables) -> None:
    tables.put_call(call(1, args=(cid("a"),), status=CallStatus.SUCCESS))
    tables.put_call(call(2, function=SUB, status=CallStatus.EXCEPTION))
    tables.put_call(call(3, session_id="calls_ffffffff", args=(cid("a"),)))
    tables.put_call(call(4, parent=1, status=CallStatus.SUCCESS))
    assert numbers(tables) == [4, 3, 2, 1]
    assert numbers(tables, most=2) == [4, 3]
    assert numbers(tables, functions=frozenset({1})) == [4, 3, 1]
    assert numbers(tables, functions=frozenset({1, 2})) == [4, 3, 2, 1]
    assert numbers(tables, most=3, functions=frozenset({1, 2})) == [4, 3, 2]
    assert numbers(tables, functions=frozenset({2}), status=CallStatus.EXCEPTION) == [2]
    assert numbers(tables, session_id="calls_ffffffff") == [3]
    assert numbers(tables, cid=cid("a")) == [3, 1]
    assert numbers(tables, cid=cid("a"), below=3) == [1]
    assert numbers(tables, below=4, above=1) == [3, 2]
    assert [each.number for each in tables.children(1, 9, FUNCTIONS)] == [4]
    assert tables.last_number() == 4


def test_contents_stacks_and_breakpoints_come_back(tables: CallTables, store: Store) -> None:
    data, preview = b"\x80\x04K\x01.", {"text": "1", "type": "int", "json": 1}
    key = hashlib.sha256(data).hexdigest()
    tables.put_content(key, data, preview)
    tables.put_stack(-9, '[{"lineno":1}]')
    point = CallBreakpoint("cbp_1", "f", when=When.AFTER, action={"action": "continue"})
    tables.put_breakpoints([point]).result()
    for _ in range(2):  # from memory, then from disk
        assert tables.data(key) == data
        assert tables.preview(key) == preview
        assert tables.stack(-9) == [{"lineno": 1}]
        assert tables.breakpoints() == [point]
        store.flush()
    assert tables.data(cid("nobody")) is None
    assert tables.preview(cid("nobody")) is None
    assert tables.stack(4) == []


def test_a_session_is_deleted_with_its_calls(tables: CallTables) -> None:
    tables.put_call(call(1, args=(cid("a"),)))
    tables.put_call(call(2, session_id="calls_0000000b", args=(cid("a"),)))
    tables.delete_session("calls_0000000a").result()
    assert numbers(tables, cid=cid("a")) == [2]
    assert tables.call(1, FUNCTIONS) is None


def test_calls_outlive_the_store(tmp_path: Path) -> None:
    first = open_store(tmp_path / "data")
    first.calls.put_function(ADD)
    first.calls.put_call(WHOLE)
    first.close()
    second = open_store(tmp_path / "data")
    try:
        assert second.calls.newest(CallQuery(), 9, FUNCTIONS) == [WHOLE]
        assert second.calls.functions() == [(ADD, 1)]
    finally:
        second.close()


# -- speed that does not depend on how many there are ---------------------------------------------

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
    store: Store, tmp_path: Path, query: CallQuery, index: str
) -> None:
    connection = sqlite3.connect(tmp_path / "data" / "holdfast.db")
    try:
        *_, (sql, values) = call_rows.selections(query)  # those not sorted in yet come before
        plan = connection.execute(f"EXPLAIN QUERY PLAN {sql}", (*values, 10)).fetchall()
    finally:
        connection.close()
    told = " | ".join(str(step[-1]) for step in plan)
    assert index in told
    assert "SCAN" not in told
    assert "USE TEMP B-TREE" not in told


def test_what_leased_calls_used_is_found_before_and_after_it_is_sorted_in(
    tables: CallTables, tmp_path: Path
) -> None:
    body = (
        batch_format.BODY.pack(batch_format.HAS_TARGET, 1, 0)
        + batch_format.lengths(1).pack(1)
        + b"a"
    )
    packed, key = Packed(), key_of_cid(hashlib.sha256(b"a").digest())
    for number in (1, 2):
        packed.rows.append((number, 10, 1, "proxy", 1, None, None, 5, body, '{"p": 1}'))
        packed.values.append(key)
        packed.users.append(number)
    tables.put_packed(packed)

    assert numbers(tables, cid=cid("a")) == [2, 1]
    with contextlib.closing(sqlite3.connect(tmp_path / "data" / "holdfast.db")) as connection:
        coming = "SELECT count(*) FROM coming_uses"
        wait_until(lambda: connection.execute(coming).fetchone() == (0,), "the uses to be sorted")
        assert connection.execute("SELECT count(*) FROM uses").fetchone() == (2,)
    assert numbers(tables, cid=cid("a")) == [2, 1]
    assert tables.data(cid("a")) == b"a"


def test_children_are_read_from_an_index(store: Store, tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "data" / "holdfast.db")
    try:
        plan = connection.execute(f"EXPLAIN QUERY PLAN {call_rows.CHILDREN}", (1, 2)).fetchall()
    finally:
        connection.close()
    assert "calls_within (parent=?)" in plan[0][-1]
    assert len(plan) == 1


# -- bad days ------------------------------------------------------------------------------------


def test_a_disk_that_fails_keeps_nothing_from_being_written_later(
    store: Store, tables: CallTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    from holdfast.store.sqlite import call_buffer as module

    monkeypatch.setattr(module, "RETRY_SECONDS", 0.01)
    failures = iter([sqlite3.OperationalError("disk is full")] * 6)
    write = module.QueuedRows.write
    written = threading.Event()

    def failing(batch: Any, connection: sqlite3.Connection) -> Any:
        for failure in failures:
            raise failure
        moved = write(batch, connection)
        if 1 in batch.calls:
            written.set()
        return moved

    monkeypatch.setattr(module.QueuedRows, "write", failing)
    tables.put_call(call(1, status=CallStatus.SUCCESS))
    assert tables.call(1, FUNCTIONS) is not None
    assert written.wait(60)
    assert numbers(tables) == [1]
    assert [warning["code"] for warning in store.warnings] == ["STORE_CALLS_NOT_WRITTEN"]


def test_whoever_brings_too_many_waits_for_room(
    tables: CallTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    from holdfast.store.sqlite import call_buffer as module

    monkeypatch.setattr(module, "MAX_ROWS", 3)
    gate = threading.Event()
    write = module.QueuedRows.write

    def slow(batch: Any, connection: sqlite3.Connection) -> Any:
        gate.wait(60)
        return write(batch, connection)

    monkeypatch.setattr(module.QueuedRows, "write", slow)
    for number in range(1, 4):
        assert tables.has_room
        tables.put_call(call(number))
    assert not tables.has_room
    with pytest.raises(StoreProblem):
        tables.wait_for_room(0.01)
    gate.set()
    tables.wait_for_room(60)
    assert numbers(tables) == [3, 2, 1]


def test_many_threads_lose_nothing(tables: CallTables) -> None:
    def put(first: int) -> None:
        for number in range(first, first + 500):
            tables.put_call(call(number))
            tables.update_call(dataclasses.replace(call(number), status=CallStatus.SUCCESS))

    threads = [threading.Thread(target=put, args=(start,)) for start in (1, 1001, 2001, 3001)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tables.put_function(ADD)
    found = tables.newest(CallQuery(), 5000, FUNCTIONS)
    assert len(found) == 2000
    assert {each.status for each in found} == {CallStatus.SUCCESS}


# -- what is too much ----------------------------------------------------------------------------


def rows_in(store: Store, table: str) -> int:
    tables = store.calls
    return int(tables._readers.rows(f"SELECT count(*) FROM {table}")[0][0])


def test_the_oldest_calls_go_with_their_uses(store: Store, tables: CallTables) -> None:
    for number in range(1, 31):
        # The fifth is under way: it will be completed, and stays.
        status = CallStatus.RUNNING if number == 5 else CallStatus.SUCCESS
        tables.put_call(call(number, status=status, args=(cid("shared"), cid(str(number)))))
    assert numbers(tables)
    assert tables.excess(10) == 20
    count, used = tables.drop_oldest(20) or (0, [])
    assert (count, tables.excess(10)) == (20, 0)
    assert set(used) == {cid("shared"), *(cid(str(n)) for n in range(1, 22) if n != 5)}
    assert sorted(numbers(tables)) == [5, *range(22, 31)]
    assert rows_in(store, "uses") == 10 * 2
    assert numbers(tables, cid=cid("shared"))[0] == 30
    assert (tables.drop_oldest(100) or (0, []))[0] == 9
    assert numbers(tables) == [5]


def test_a_value_goes_when_nobody_refers_to_it(tables: CallTables) -> None:
    names = ("gone", "used", "decided", "preset", "function", "sent again")
    for name in names:
        kind = "function" if name == "function" else "str"
        tables.put_content(cid(name), name.encode(), {"text": name, "type": kind})
    args = tuple(map(cid, names))
    tables.put_call(call(1, status=CallStatus.SUCCESS, args=args))
    tables.put_call(call(2, status=CallStatus.SUCCESS, args=(cid("used"),)))
    decision = {"action": "skip", "fake_result_cid": cid("decided")}
    tables.put_call(call(3, status=CallStatus.SUCCESS, decision=decision))
    preset = {"action": "skip", "fake_result": {"cid": cid("preset")}}
    tables.put_breakpoints([CallBreakpoint("cbp_1", function="f", action=preset)]).result()
    count, used = tables.drop_oldest(1) or (0, [])
    assert count == 1
    assert tables.drop_contents(used, lambda each: each != cid("sent again")) == 1
    assert tables.data(cid("gone")) is None
    assert tables.preview(cid("gone"), surely=True) is None
    assert all(tables.data(cid(name)) is not None for name in names if name != "gone")


def test_a_call_that_comes_before_its_value_goes_keeps_it(tables: CallTables) -> None:
    tables.put_content(cid("v"), b"v", {"text": "v", "type": "str"})
    tables.put_call(call(1, status=CallStatus.SUCCESS, args=(cid("v"),)))
    _count, used = tables.drop_oldest(1) or (0, [])
    tables.put_call(call(2, args=(cid("v"),)))
    assert tables.drop_contents(used, lambda each: True) == 0
    assert tables.data(cid("v")) == b"v"


def test_a_value_that_is_only_in_a_row_is_kept_for_others(store: Store, tables: CallTables) -> None:
    small, larger = pickle.dumps(7), pickle.dumps(8)
    sizes = batch_format.lengths(2).pack(len(small), len(larger))
    body = batch_format.BODY.pack(batch_format.HAS_OUTCOME, 2, 1) + sizes + small + larger
    head = batch_format.head(0xA, 1, 1, 0, 1) + batch_format.site(0, b"{}")
    one = batch_format.CALL.pack(batch_format.CALL.size + len(body), 0, 1, 500, 0)
    [found] = batch_parser.parse_batch(head + one + body).calls
    row = (1, 0xA, 1, "proxy", 1, None, None, 500, body, '{"p":1}')
    used_by = array("q", found.keys), array("q", [1] * len(found.keys))
    tables.put_packed(Packed([row], *used_by, Counter({1: 1})))
    ids = [hashlib.sha256(each).hexdigest() for each in (small, larger)]
    tables.put_call(call(2, status=CallStatus.SUCCESS, args=(ids[0],)))
    assert numbers(tables) == [2, 1]
    assert tables.drop_oldest(1) is None  # uses wait to be sorted in
    tables._writer.submit(tables._sort_in).result()
    count, used = tables.drop_oldest(1) or (0, [])
    assert (count, sorted(used)) == (1, sorted(ids))
    assert rows_in(store, "uses") == 1
    assert tables.drop_contents(used, lambda each: True) == 1
    assert tables.data(ids[0]) == small
    assert tables.preview(ids[0], surely=True) == {"text": "7", "type": "int", "json": 7}
    assert tables.preview(ids[1], surely=True) is None


# -- numbers that two applications took ----------------------------------------------------------


def packed(*given: tuple[int, int, int | None], stack: int | None = None) -> Packed:
    """Leased calls: session, number and parent of each."""
    body = (
        batch_format.BODY.pack(batch_format.HAS_TARGET, 1, 0)
        + batch_format.lengths(1).pack(1)
        + b"a"
    )
    found = Packed()
    for session, number, parent in given:
        row = (number, session, 1, "proxy", 1, parent, stack, 5, body, '{"p": 1}')
        found.rows.append(row)
        found.values.append(key_of_cid(hashlib.sha256(b"a").digest()))
        found.users.append(number)
    return found


def children(tables: CallTables, parent: int) -> list[int]:
    return [each.number for each in tables.children(parent, 10, FUNCTIONS)]


def test_a_call_that_gets_another_number_keeps_its_children(tables: CallTables) -> None:
    first, second = 0xA, 0xB
    tables.put_packed(packed((first, 101, 100), (first, 100, None)))
    assert children(tables, 100) == [101]

    tables.put_packed(packed((second, 110, 100)))
    tables.put_packed(packed((second, 111, 100), (second, 100, None)))
    assert numbers(tables) == [111, 110, 102, 101, 100]
    # One that outlives the call that began it, as a task may, comes later.
    tables.put_packed(packed((second, 112, 100)))

    assert children(tables, 102) == [110, 111, 112]
    assert children(tables, 100) == [101]
    assert numbers(tables, cid=cid("a")) == [112, 111, 110, 102, 101, 100]


# -- stacks --------------------------------------------------------------------------------------


def test_a_stack_goes_with_the_last_call_that_has_it(store: Store, tables: CallTables) -> None:
    now = time.time_ns() + 10**9  # of calls, which come after their stacks
    for stack in (5, 6, 7):
        tables.put_stack(stack, '[{"lineno": 1}]')
    for number, stack in ((1, 5), (2, 6), (3, 5), (4, 7)):
        done = CallStatus.SUCCESS if number < 4 else CallStatus.RUNNING
        tables.put_call(call(now + number, status=done, stack=stack))
    assert tables.unused_stacks() == set()
    tables.drop_oldest(2)

    assert tables.unused_stacks() == {6}
    tables.drop_stacks({6, 7})
    assert rows_in(store, "stacks") == 2
    tables.drop_oldest(2)
    tables.drop_stacks(tables.unused_stacks())
    assert rows_in(store, "stacks") == 1


def test_a_stack_that_is_used_again_meanwhile_stays(store: Store, tables: CallTables) -> None:
    now = time.time_ns() + 10**9
    tables.put_stack(5, '[{"lineno": 1}]')
    tables.put_call(call(now + 1, status=CallStatus.SUCCESS, stack=5))
    tables.put_call(call(now + 2, status=CallStatus.RUNNING))
    tables.drop_oldest(1)
    unused = tables.unused_stacks()
    assert unused == {5}

    tables.put_packed(packed((0xA, now + 3, None), stack=5))
    tables.drop_stacks(unused)
    assert tables.stack(5) == [{"lineno": 1}]
