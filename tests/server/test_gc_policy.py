"""Reference cycles are collected although the automatic collector runs rarely."""

from __future__ import annotations

import asyncio
import gc
import weakref

import pytest

from holdfast.server import gc_policy


class Cycle:
    def __init__(self) -> None:
        self.me = self


async def wait_until_collected() -> None:
    collected = asyncio.Event()
    last = [Cycle() for _ in range(5_000)][-1]
    weakref.finalize(last, collected.set)
    del last
    await asyncio.wait_for(collected.wait(), 60)


def test_cycles_are_collected_while_the_server_runs_and_the_thresholds_are_restored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(gc_policy, "_MIN_PAUSE_SECONDS", 0.01)
    before = gc.get_threshold()

    async def serve() -> None:
        async with gc_policy.tune_collector():
            assert gc.get_threshold() > before
            assert gc.get_freeze_count() > 0
            await wait_until_collected()

    asyncio.run(serve())
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0
