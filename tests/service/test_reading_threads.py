"""The threads that read recordings: what is shared, and what is given up."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from itertools import count

import pytest

from holdfast import errors
from holdfast.service.agents.reading_threads import Reading, ReadingGivenUp, ReadingThreads
from holdfast.service.waitable import CLIENT_DISCONNECT


def read_for_ever(began: threading.Event) -> Callable[[Reading], None]:
    def read(reading: Reading) -> None:
        for _ in reading.follow(count()):
            began.set()

    return read


async def wait_for(event: threading.Event) -> None:
    assert await asyncio.to_thread(event.wait, 60)


def test_equal_requests_share_one_reading() -> None:
    gate, calls = threading.Event(), []

    def read(_reading: Reading) -> int:
        calls.append(1)
        gate.wait(60)
        return len(calls)

    async def ask() -> list[int]:
        threads = ReadingThreads()
        asked = [asyncio.ensure_future(threads.run("same", read)) for _ in range(5)]
        await asyncio.sleep(0)  # all of them have begun to wait
        gate.set()
        found = await asyncio.gather(*asked, threads.run("other", read))
        threads.close()
        return found

    assert asyncio.run(ask()) == [1, 1, 1, 1, 1, 2]


def test_what_nobody_waits_for_is_given_up() -> None:
    async def ask() -> None:
        threads, began = ReadingThreads(), threading.Event()
        clients = [asyncio.get_running_loop().create_future() for _ in range(2)]
        asked = []
        for client in clients:
            CLIENT_DISCONNECT.set(client)
            asked.append(asyncio.create_task(threads.run("same", read_for_ever(began))))
        await wait_for(began)
        clients[0].set_result(None)
        began.clear()
        await wait_for(began)  # it goes on for the other one
        clients[1].set_result(None)
        found = await asyncio.gather(*asked, return_exceptions=True)
        assert [type(each) for each in found] == [ReadingGivenUp, ReadingGivenUp]
        threads.close()

    asyncio.run(ask())


def test_a_request_that_is_cancelled_waits_no_more() -> None:
    async def ask() -> None:
        threads, began = ReadingThreads(), threading.Event()
        asked = asyncio.create_task(threads.run("same", read_for_ever(began)))
        await wait_for(began)
        asked.cancel()
        await asyncio.wait([asked])
        assert await threads.run("other", lambda _reading: "done") == "done"  # the thread is free
        threads.close()

    asyncio.run(ask())


def test_a_server_that_stops_waits_for_no_reading() -> None:
    async def ask() -> None:
        threads, began = ReadingThreads(), threading.Event()
        asked = [
            asyncio.create_task(threads.run(key, read_for_ever(began))) for key in ("one", "other")
        ]
        await wait_for(began)
        threads.stop()
        for each in asked:
            with pytest.raises(errors.Overloaded):
                await each
        threads.close()
        with pytest.raises(errors.Overloaded):
            await threads.run("late", lambda _reading: None)

    asyncio.run(ask())
