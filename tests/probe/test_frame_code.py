"""What the bytecode of a frame says: the call it is in, and the blocks around it."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable
from typing import Any

from holdfast.probe import frame_code

Frames = list[Any]
LOCK = threading.Lock()


class Box:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.locks = {"a": [LOCK, threading.Lock()]}

    @property
    def computed(self) -> Any:
        raise AssertionError("the program's code was run")


def run_until_called(run: Callable[[Callable[..., Any]], Any]) -> Any:
    """The frame of `run` while it is in the call of what it is given."""
    found: Frames = []

    def note(*_args: Any, **_kwargs: Any) -> None:
        found.append(sys._getframe(1))
        texts.append([site.text for site in frame_code.find_entered(found[0])])
        earlier = frame_code.find_earlier_calls(found[0], {"acquire", "release"})
        texts.append([f"{site.text}.{site.method}" for site in earlier])

    texts: list[list[str]] = []
    run(note)
    return texts


def test_the_blocks_around_a_frame_are_found() -> None:
    box = Box()

    def run(note: Callable[..., Any]) -> None:
        with LOCK:
            pass
        try:
            with box.lock, box.locks["a"][1] as _held:
                for _ in range(1):
                    note()
        finally:
            pass

    entered, _earlier = run_until_called(run)
    assert sorted(entered) == ["box.lock", "box.locks['a'][1]"]


def test_the_name_of_a_block_has_the_brackets_that_it_needs() -> None:
    locks = [threading.Lock(), threading.Lock()]

    def run(note: Callable[..., Any]) -> None:
        place = 2
        with locks[(place + 1) % 2], locks[place % 2]:
            note()

    entered, _earlier = run_until_called(run)
    assert sorted(entered) == ["locks[(place + 1) % 2]", "locks[place % 2]"]


def test_a_block_whose_variable_has_changed_is_not_guessed_at() -> None:
    def run(note: Callable[..., Any]) -> None:
        lock = threading.Lock()
        with lock:
            lock = LOCK
            note()

    assert run_until_called(run)[0] == []


def test_only_calls_before_the_present_one_count() -> None:
    box = Box()

    def run(note: Callable[..., Any]) -> None:
        box.lock.acquire(timeout=len("x"))
        kept = LOCK.acquire
        note(kept)
        box.lock.release()

    assert run_until_called(run)[1] == ["box.lock.acquire"]


def test_no_code_of_the_program_is_run() -> None:
    box = Box()

    class Odd:
        def __getattr__(self, name: str) -> Any:
            raise AssertionError("the program's code was run")

    odd = Odd()

    def run(note: Callable[..., Any]) -> None:
        if note is None:
            box.computed.acquire()
            odd.lock.acquire()
        note()

    assert run_until_called(run)[1] == []


def test_what_a_coroutine_awaits_is_found() -> None:
    async def main() -> list[str | None]:
        lock, gate = asyncio.Lock(), asyncio.Event()
        await lock.acquire()

        async def acquire() -> None:
            await lock.acquire()

        async def enter() -> None:
            async with lock:
                pass

        async def wait() -> None:
            await gate_task

        gate_task = asyncio.ensure_future(gate.wait())
        tasks: list[asyncio.Future[Any]] = [
            asyncio.ensure_future(each()) for each in (acquire, enter, wait)
        ]
        await asyncio.sleep(0)
        texts = []
        for task in tasks:
            any_task: Any = task
            site = frame_code.find_awaited(any_task.get_coro().cr_frame)
            texts.append(site.text if site else None)
        for task in (*tasks, gate_task):
            task.cancel()
        await asyncio.gather(*tasks, gate_task, return_exceptions=True)
        return texts

    assert asyncio.run(main()) == ["lock", "lock", "gate_task"]
