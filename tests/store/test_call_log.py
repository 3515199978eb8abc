"""The call log: what was written is read back at once, and found by every kind of query."""

from __future__ import annotations

import asyncio
import dataclasses
import pickle
import time
from array import array
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from call_samples import ADD, DONE, SUB, batch, call, cid, numbers
from holdfast.model.call import CallStatus
from holdfast.model.call_batch import (
    CallBatch,
    CallOutline,
    CallSite,
    CompletedCall,
    PlainCalls,
    plain_value_bytes,
)
from holdfast.model.call_query import CallQuery
from holdfast.store import CallLog, Store
from store_engines import ENGINES, OpenStore

pytestmark = pytest.mark.anyio


@pytest.fixture
def log(store: Store) -> CallLog:
    store.call_log.put_function(ADD)
    store.call_log.put_function(SUB)
    return store.call_log


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


# -- calls one by one ----------------------------------------------------------------------------


async def test_a_call_comes_back_as_it_was(store: Store, log: CallLog) -> None:
    log.append_call(WHOLE)
    for _ in ("queued", "stored"):
        assert await log.call(WHOLE.number) == WHOLE
        assert await log.newest(CallQuery(), 1) == [WHOLE]
        assert await log.call(8) is None
        await store.flush()


async def test_the_latest_version_of_a_call_counts(log: CallLog) -> None:
    log.append_call(call(1))
    log.update_call(call(1, status=DONE))
    log.append_call(call(2))
    statuses = [record.status.value for record in await log.newest(CallQuery(), 9)]
    assert statuses == ["running", "success"]
    log.update_call(call(2, status=DONE, result=cid("late")))
    assert await numbers(log, status=CallStatus.RUNNING) == []
    assert await numbers(log, cid=cid("late")) == [2]
    assert await log.functions() == [(ADD, 2), (SUB, 0)]


async def test_each_query_finds_its_calls(log: CallLog) -> None:
    log.append_call(call(1, args=(cid("a"),), status=DONE))
    log.append_call(call(2, function=SUB, status=CallStatus.EXCEPTION))
    log.append_call(call(3, session_id="calls_ffffffff", args=(cid("a"),)))
    log.append_call(call(4, parent=1, status=DONE))
    assert await numbers(log) == [4, 3, 2, 1]
    assert await numbers(log, limit=2) == [4, 3]
    assert await numbers(log, functions=frozenset({1})) == [4, 3, 1]
    assert await numbers(log, functions=frozenset({1, 2})) == [4, 3, 2, 1]
    assert await numbers(log, limit=3, functions=frozenset({1, 2})) == [4, 3, 2]
    assert await numbers(log, functions=frozenset({2}), status=CallStatus.EXCEPTION) == [2]
    assert await numbers(log, session_id="calls_ffffffff") == [3]
    assert await numbers(log, cid=cid("a")) == [3, 1]
    assert await numbers(log, cid=cid("a"), below=3) == [1]
    assert await numbers(log, below=4, above=1) == [3, 2]
    assert [record.number for record in await log.children([1], 9)] == [4]
    assert await log.last_number() == 4


async def test_counts_and_the_last_number_see_what_is_queued(log: CallLog) -> None:
    assert (await log.last_number(), await log.count_calls()) == (0, 0)
    log.append_call(call(5))
    log.append_batch(batch((7, None), session="calls_0000000b"))
    assert (await log.last_number(), await log.count_calls()) == (7, 2)
    assert await log.count_calls("calls_0000000b") == 1
    assert await log.count_calls("calls_0000000c") == 0


async def test_children_come_by_parent_up_to_a_limit(log: CallLog) -> None:
    for number, parent in ((1, None), (2, None), (3, 2), (4, 1), (5, 2), (6, 1)):
        log.append_call(call(number, parent=parent))

    async def children(parents: list[int], limit: int) -> list[int]:
        return [record.number for record in await log.children(parents, limit)]

    assert await children([1, 2], 9) == [4, 6, 3, 5]
    assert await children([2, 1], 3) == [3, 5, 4]
    assert await children([3], 9) == []
    assert await children([], 9) == []


async def test_a_session_is_deleted_with_its_calls(log: CallLog) -> None:
    log.append_call(call(1, args=(cid("a"),)))
    log.append_call(call(2, session_id="calls_0000000b", args=(cid("a"),)))
    await log.delete_session("calls_0000000a")
    assert await numbers(log, cid=cid("a")) == [2]
    assert await log.call(1) is None


async def test_calls_outlive_the_store(open_engine: OpenStore) -> None:
    first = await open_engine()
    first.call_log.put_function(ADD)
    first.call_log.append_call(WHOLE)
    await first.aclose()
    second = await open_engine()
    assert await second.call_log.newest(CallQuery(), 9) == [WHOLE]
    assert await second.call_log.functions() == [(ADD, 1)]
    await second.aclose()


async def test_running_calls_are_lost_and_others_are_not(log: CallLog) -> None:
    log.append_call(call(1))
    log.append_call(call(2, status=DONE))
    await log.lose_running()
    statuses = [record.status for record in await log.newest(CallQuery(), 9)]
    assert statuses == [DONE, CallStatus.LOST]
    assert await numbers(log, status=CallStatus.LOST) == [1]


async def test_many_threads_lose_nothing(log: CallLog) -> None:
    def put(first: int) -> None:
        for number in range(first, first + 500):
            log.append_call(call(number))
            log.update_call(dataclasses.replace(call(number), status=DONE))

    starts = (1, 1001, 2001, 3001)
    await asyncio.gather(*[asyncio.to_thread(put, start) for start in starts])
    records = await log.newest(CallQuery(), 5000)
    assert len(records) == 2000
    assert {record.status for record in records} == {DONE}


# -- batches -------------------------------------------------------------------------------------


async def test_a_completed_call_of_a_batch_comes_back_with_its_values(store: Store) -> None:
    store.call_log.put_function(ADD)
    target, one, two, large = b"target", b"one", b"two", cid("large")
    outline = CallOutline(
        argument_count=1,
        keywords=("b",),
        changed=(("args", "0"), ("target", "")),
        task="Task-1",
        exception_type="ValueError",
        exception_message="wrong",
        marker="generator",
    )
    values = (target, one, large, two, b"changed", b"new target")
    thread = {"id": 1, "name": "main"}
    completed = CompletedCall(3, 7_000_000_001, 1500, 5, True, outline, values)
    store.call_log.append_batch(
        CallBatch("calls_0000000b", {3: CallSite(1, "inline", -9, thread)}, [completed])
    )
    [record] = await store.call_log.newest(CallQuery(), 9)
    assert record == call(
        7_000_000_001,
        session_id="calls_0000000b",
        call_type="inline",
        status=CallStatus.EXCEPTION,
        target=cid(target),
        args=(cid(one),),
        kwargs={"b": large},
        exception=cid(two),
        exception_type="ValueError",
        exception_message="wrong",
        stack=-9,
        parent=5,
        thread=thread,
        task="Task-1",
        started_at=7.000000001,
        completed_at=7.000001501,
        duration_ns=1500,
        changed={"args": {"0": cid("changed")}, "target": cid("new target")},
        marker="generator",
    )
    assert await store.call_log.call(7_000_000_001) == record
    for value in (target, one, two):
        assert await store.contents.data(cid(value)) == value
        assert await numbers(store.call_log, cid=cid(value)) == [7_000_000_001]
    assert await store.contents.data(large) is None
    assert await numbers(store.call_log, cid=large) == [7_000_000_001]
    assert await store.call_log.functions() == [(ADD, 1)]


# What pickle tells apart, and JSON, or a dict, could take for the same.
plain_values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-3, 3),
    st.floats(allow_nan=False) | st.just(float("nan")),  # JSON has no payloads of NaNs
    st.sampled_from([0.0, -0.0, 1.0, float("inf"), 10**40, -(10**19), "\ud800", "],[", "NaN"]),
    st.text(max_size=20),
)


def plain_batch(calls: list[tuple[Any, ...]], first: int = 1) -> CallBatch:
    """Plain calls, each its arguments and its result."""
    zeros = array("q", [0] * len(calls))
    plain = PlainCalls(
        sites=zeros,
        numbers=array("q", range(first, first + len(calls))),
        durations_ns=array("q", [5] * len(calls)),
        parents=zeros,
        targets=zeros,
        target_values=[b"target"],
        argument_counts=array("q", [len(values) - 1 for values in calls]),
        arguments=[value for values in calls for value in values[:-1]],
        results=[values[-1] for values in calls],
    )
    return CallBatch("calls_0000000a", {0: CallSite(1, "proxy")}, plain=plain)


@pytest.mark.parametrize("engine", ENGINES)
def test_plain_values_have_the_ids_of_their_pickles(
    engine: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    @settings(max_examples=10, suppress_health_check=list(HealthCheck), deadline=None)
    @given(st.lists(st.lists(plain_values, min_size=1, max_size=5).map(tuple), min_size=1))
    def check(calls: list[tuple[Any, ...]]) -> None:
        asyncio.run(check_plain_values(engine, tmp_path_factory, calls))

    check()


async def check_plain_values(
    engine: str, folders: pytest.TempPathFactory, calls: list[tuple[Any, ...]]
) -> None:
    store = await ENGINES[engine](folders.mktemp("data"))
    store.call_log.append_batch(plain_batch(calls))
    records = await store.call_log.newest(CallQuery(), len(calls))
    for record, values in zip(reversed(records), calls, strict=True):
        cids = [cid(plain_value_bytes(value)) for value in values]
        assert [*record.args, record.result] == cids
        assert (record.target, record.status) == (cid("target"), DONE)
        for value, key in zip(values, cids, strict=True):
            assert await store.contents.data(key) == pickle.dumps(value, 5)
            assert record.number in await numbers(store.call_log, 1000, cid=key)
    await store.aclose()


async def test_a_batch_that_comes_twice_is_stored_once(log: CallLog) -> None:
    log.append_batch(plain_batch([(1, 2), (3, 4)]))
    log.append_batch(plain_batch([(1, 2), (3, 4)]))
    assert await numbers(log) == [2, 1]


async def test_a_call_that_gets_another_number_keeps_its_children(log: CallLog) -> None:
    async def children(parent: int) -> list[int]:
        return [record.number for record in await log.children([parent], 10)]

    log.append_batch(batch((101, 100), (100, None)))
    assert await children(100) == [101]

    other = "calls_0000000b"
    log.append_batch(batch((110, 100), session=other))
    log.append_batch(batch((111, 100), (100, None), session=other))
    assert await numbers(log) == [111, 110, 102, 101, 100]
    # One that outlives the call that began it, as a task may, comes later.
    log.append_batch(batch((112, 100), session=other))

    assert await children(102) == [110, 111, 112]
    assert await children(100) == [101]
    assert await numbers(log, cid=cid("a")) == [112, 111, 110, 102, 101, 100]


async def test_there_is_room_while_little_is_queued(log: CallLog) -> None:
    assert log.has_room
    log.append_call(call(1))
    await log.wait_for_room()
    await log.last_number()
    assert log.is_idle


# -- deleting the oldest -------------------------------------------------------------------------


async def test_the_oldest_calls_go_with_their_uses(log: CallLog) -> None:
    for number in range(1, 31):
        # The fifth is under way: it will be completed, and stays.
        status = CallStatus.RUNNING if number == 5 else DONE
        log.append_call(call(number, status=status, args=(cid("shared"), cid(str(number)))))
    assert await log.count_calls() == 30
    dropped = await log.drop_oldest(20)
    assert dropped is not None
    assert (dropped.count, await log.count_calls()) == (20, 10)
    assert set(dropped.cids) == {cid("shared"), *(cid(str(n)) for n in range(1, 22) if n != 5)}
    assert sorted(await numbers(log)) == [5, *range(22, 31)]
    assert await numbers(log, cid=cid("3")) == []
    assert (await numbers(log, cid=cid("shared")))[0] == 30
    dropped = await log.drop_oldest(100)
    assert dropped is not None
    assert dropped.count == 9
    assert await numbers(log) == [5]


# -- stacks --------------------------------------------------------------------------------------


async def test_a_stack_is_read_back(store: Store, log: CallLog) -> None:
    log.put_stack(-9, [{"lineno": 1}])
    for _ in ("queued", "stored"):
        assert await log.stack(-9) == [{"lineno": 1}]
        await store.flush()
    assert await log.stack(4) == []


async def test_a_stack_goes_with_the_last_call_that_has_it(log: CallLog) -> None:
    now = time.time_ns() + 10**12  # of calls, which come after their stacks
    for stack in (5, 6, 7):
        log.put_stack(stack, [{"lineno": 1}])
    for number, stack in ((1, 5), (2, 6), (3, 5), (4, 7)):
        status = DONE if number < 4 else CallStatus.RUNNING
        log.append_call(call(now + number, status=status, stack=stack))
    assert await log.unused_stacks() == set()
    await log.drop_oldest(2)

    assert await log.unused_stacks() == {6}
    await log.drop_stacks({6, 7})
    assert [bool(await log.stack(stack)) for stack in (5, 6, 7)] == [True, False, True]
    await log.drop_oldest(2)
    await log.drop_stacks(await log.unused_stacks())
    assert [bool(await log.stack(stack)) for stack in (5, 6, 7)] == [False, False, True]


async def test_a_stack_that_is_used_again_meanwhile_stays(log: CallLog) -> None:
    now = time.time_ns() + 10**12
    log.put_stack(5, [{"lineno": 1}])
    log.append_call(call(now + 1, status=DONE, stack=5))
    log.append_call(call(now + 2))
    assert await log.count_calls() == 2
    await log.drop_oldest(1)
    unused = await log.unused_stacks()
    assert unused == {5}

    log.append_batch(batch((now + 3, None), stack=5))
    await log.drop_stacks(unused)
    assert await log.stack(5) == [{"lineno": 1}]
