"""When and where calls ran, how many children they have, and in which order they arrived."""

from __future__ import annotations

from typing import Any

import pytest

from call_samples import ADD, DONE, SUB, batch, call
from holdfast.model.call import CallStatus
from holdfast.model.call_batch import CallBatch, CallOutline, CallSite, CompletedCall
from holdfast.model.call_query import CallQuery
from holdfast.model.call_span import STATUSES, CallLane, CallSpans
from holdfast.store import CALLS_TOPIC, CallLog, Store

pytestmark = pytest.mark.anyio
A, B = "calls_0000000a", "calls_0000000b"
MAIN = {"id": 1, "name": "MainThread"}


@pytest.fixture
def log(store: Store) -> CallLog:
    store.call_log.put_function(ADD)
    store.call_log.put_function(SUB)
    return store.call_log


async def read(log: CallLog, limit: int = 100, **query: Any) -> CallSpans:
    return (await log.spans(CallQuery(**query), limit)).spans


def build_batch(*calls: tuple[int, str | None]) -> CallBatch:
    """Calls of a leased application: the number and the task of each."""
    completed = [
        CompletedCall(0, number, 50, None, False, CallOutline(task=task), (b"target", b"result"))
        for number, task in calls
    ]
    return CallBatch(A, {0: CallSite(2, "inline", None, MAIN)}, completed)


async def test_spans_say_when_and_where_calls_ran(log: CallLog) -> None:
    log.append_call(call(1, thread=MAIN, task="Task-1"))
    log.append_call(call(2, function=SUB, parent=1, status=DONE, duration_ns=7, thread=MAIN))
    log.append_batch(build_batch((3, "Task-1"), (4, None)))
    spans = await read(log)
    assert list(spans.numbers) == [1, 2, 3, 4]
    assert list(spans.parents) == [None, 1, None, None]
    assert list(spans.durations_ns) == [None, 7, 50, 50]
    assert [spans.functions[place].name for place in spans.functions_at] == [
        *("add", "sub", "sub", "sub")
    ]
    in_task, outside = CallLane(A, 1, "MainThread", "Task-1"), CallLane(A, 1, "MainThread", None)
    assert [spans.lanes[place] for place in spans.lanes_at] == [in_task, outside, in_task, outside]
    assert [STATUSES[place] for place in spans.statuses_at] == [CallStatus.RUNNING, *[DONE] * 3]
    assert list(map(bool, spans.are_inline)) == [False, False, True, True]


async def test_the_newest_spans_of_a_range_are_read(log: CallLog) -> None:
    for number in range(1, 9):
        function = SUB if number % 2 else ADD
        log.append_call(call(number, function=function, session_id=B if number > 6 else A))
    assert list((await read(log, 3)).numbers) == [6, 7, 8]
    assert list((await read(log, 3, session_id=A)).numbers) == [4, 5, 6]
    assert list((await read(log, 2, functions=frozenset({2}))).numbers) == [5, 7]
    both = await read(log, functions=frozenset({2}), session_id=A)
    assert list(both.numbers) == [1, 3, 5]
    assert list((await read(log, above=2, below=5)).numbers) == [3, 4]
    assert list((await read(log, functions=frozenset())).numbers) == []


async def test_a_range_says_how_many_calls_it_has_and_how_far_the_record_goes(log: CallLog) -> None:
    empty = await log.spans(CallQuery(), 5)
    assert (empty.total, empty.first, empty.last) == (0, 0, 0)
    log.append_batch(batch((3, None), (5, 3), (9, None)))
    log.append_batch(batch((4, None), session=B))
    for query, expected in (
        (CallQuery(), (4, 3, 9)),
        (CallQuery(above=3), (3, 3, 9)),
        (CallQuery(session_id=B), (1, 4, 4)),
        (CallQuery(session_id=A, below=9), (2, 3, 9)),
        (CallQuery(functions=frozenset({1}), session_id=A), (3, 3, 9)),
    ):
        for limit in (1, 100):
            found = await log.spans(query, limit)
            assert (found.total, found.first, found.last) == expected


async def test_children_are_counted_up_to_a_limit(log: CallLog) -> None:
    log.append_batch(batch((1, None), (2, 1), (3, 1), (4, 1), (5, 2)))
    assert await log.count_children([1, 2, 3], 10) == {1: 3, 2: 1, 3: 0}
    assert await log.count_children([1, 2], 2) == {1: 2, 2: 1}


async def test_several_calls_are_read_at_once(log: CallLog) -> None:
    log.append_call(call(1))
    log.append_batch(batch((2, None)))
    log.update_call(call(1, status=DONE))
    found = await log.calls([2, 1, 7])
    assert {number: record.status for number, record in found.items()} == {1: DONE, 2: DONE}


async def test_calls_arrive_in_the_order_in_which_they_were_written(
    store: Store, log: CallLog
) -> None:
    rings: list[int] = []
    unsubscribe = store.bell.subscribe(CALLS_TOPIC, lambda: rings.append(log.arrivals))
    log.append_call(call(9))
    log.append_batch(batch((5, None), (4, None)))
    log.update_call(call(9, status=DONE))
    unsubscribe()
    assert rings == [1, 3, 4]
    assert log.arrived_after(0, 10) == [9, 5, 4, 9]
    assert log.arrived_after(1, 2) == [5, 4]
    assert log.arrived_after(4, 10) == []


async def test_a_call_that_gets_another_number_arrives_under_that_one(log: CallLog) -> None:
    log.append_batch(batch((100, None)))
    log.append_batch(batch((100, None), session=B))
    await log.count_calls()  # which waits until they are written
    assert log.arrived_after(0, 10) == [100, 100, 101]


async def test_only_the_latest_arrivals_are_remembered(
    log: CallLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.store.sqlite.call_arrivals.KEPT", 3)
    for number in range(1, 8):
        log.append_call(call(number))
    assert log.arrived_after(0, 10) is None
    assert log.arrived_after(log.arrivals - 3, 10) == [5, 6, 7]
