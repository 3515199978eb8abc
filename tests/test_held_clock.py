"""The clock of the tests stands still, and goes as far as it is turned."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Iterator

import pytest

from held_clock import HeldLoop


@pytest.fixture
def loop() -> Iterator[HeldLoop]:
    made = HeldLoop()
    yield made
    made.close()


def test_timers_fire_in_their_order_and_only_as_far_as_the_clock_is_turned(loop: HeldLoop) -> None:
    fired: list[tuple[str, float]] = []
    begin = loop.time()

    def note(name: str) -> None:
        fired.append((name, loop.time() - begin))

    for name, seconds in (("late", 30.0), ("soon", 1.0), ("never", 31.0)):
        loop.call_later(seconds, note, name)
    loop.settle()
    assert fired == []
    loop.turn(30)
    assert fired == [("soon", 1.0), ("late", 30.0)]
    assert loop.time() - begin == 30


def test_what_a_timer_sets_off_comes_before_the_next_timer(loop: HeldLoop) -> None:
    told: list[str] = []

    async def nap_twice() -> None:
        await asyncio.sleep(1)
        told.append("first")
        await asyncio.sleep(1)
        told.append("second")

    task = loop.create_task(nap_twice())
    loop.settle()
    loop.call_later(1.5, told.append, "between")
    loop.turn(2)
    assert task.done()
    assert told == ["first", "between", "second"]


def test_a_limit_is_reached_when_the_clock_says_so(loop: HeldLoop) -> None:
    task = loop.create_task(asyncio.wait_for(asyncio.Event().wait(), 60))
    loop.turn(59)
    assert not task.done()
    loop.turn(1)
    assert isinstance(task.exception(), asyncio.TimeoutError)


def test_descriptors_and_threads_wake_it_while_the_clock_stands(loop: HeldLoop) -> None:
    read, write = os.pipe()
    came = asyncio.Event()
    loop.add_reader(read, came.set)
    loop.call_later(3600, lambda: None)
    thread = threading.Thread(target=os.write, args=(write, b"x"))
    thread.start()
    begin = loop.time()
    loop.run_until_complete(came.wait())
    thread.join()
    loop.remove_reader(read)
    assert loop.run_until_complete(asyncio.to_thread(lambda: "from a thread")) == "from a thread"
    assert loop.time() == begin
    loop.run_until_complete(loop.shutdown_default_executor())
    os.close(read)
    os.close(write)


def test_a_turn_waits_for_what_threads_have_to_do(loop: HeldLoop) -> None:
    async def work_after_a_nap() -> str:
        await asyncio.sleep(1)
        return await asyncio.to_thread(lambda: "done")

    task = loop.create_task(work_after_a_nap())
    loop.turn(1)
    assert task.result() == "done"
    loop.run_until_complete(loop.shutdown_default_executor())
