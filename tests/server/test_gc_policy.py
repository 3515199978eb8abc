"""Garbage in circles goes although the collector is asked to look rarely."""

from __future__ import annotations

import asyncio
import gc
import weakref

from holdfast.server import gc_policy


class Circle:
    def __init__(self) -> None:
        self.me = self


async def until_gone() -> None:
    gone = asyncio.Event()
    last = [Circle() for _ in range(5_000)][-1]
    weakref.finalize(last, gone.set)
    del last
    await asyncio.wait_for(gone.wait(), 60)


def test_circles_go_while_the_server_runs_and_the_collector_is_given_back() -> None:
    before = gc.get_threshold()

    async def serve() -> None:
        async with gc_policy.tuned():
            assert gc.get_threshold() > before
            assert gc.get_freeze_count() > 0
            await until_gone()

    asyncio.run(serve())
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0
