"""Warm interpreters: taken once, replaced when they are no longer fit, and not too many."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from holdfast.targets.program import interpreter_pool, launcher
from holdfast.targets.program.interpreter_pool import Pool
from holdfast.targets.program.target import Target
from process_trees import is_running, run_limited


class Log:
    """What the pool did: whom it started, whom it said to forget."""

    def __init__(self) -> None:
        self.started: list[int] = []
        self.forgotten: list[int] = []
        self._changed = asyncio.Event()

    async def start(self, python: str) -> Target:
        target = await launcher.arm(
            python, cwd="/", env=dict(os.environ), tag=None, request_timeout=60
        )
        try:
            await target.read_hello()
        except BaseException:
            await target.kill()
            raise
        self.started.append(target.own_process().pid)
        self._changed.set()
        return target

    def forget(self, target: Target) -> None:
        self.forgotten.append(target.own_process().pid)
        self._changed.set()

    async def until(self, reached: Callable[[], bool]) -> None:
        while not reached():
            self._changed.clear()
            await self._changed.wait()
            await asyncio.sleep(0)  # the pool takes in what was just started


@asynccontextmanager
async def pool_of(size: int) -> AsyncIterator[tuple[Pool, Log]]:
    log = Log()
    made = Pool(log.start, log.forget, size)
    try:
        yield made, log
    finally:
        await made.close()
        assert sorted(log.forgotten + _taken) == sorted(log.started)
        assert not any(map(is_running, log.started))
        _taken.clear()


_taken: list[int] = []


async def takes_warm(made: Pool, python: str) -> bool:
    """Whether a launch would have got a warm one; it is used up."""
    target = made.take(python)
    if target is None:
        return False
    _taken.append(target.own_process().pid)
    await target.kill()
    return True


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    folder = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    return folder


def test_one_that_is_taken_is_replaced() -> None:
    async def main() -> None:
        async with pool_of(1) as (made, log):
            made.fill(sys.executable)
            await log.until(lambda: made.counts == {sys.executable: 1})
            assert await takes_warm(made, sys.executable)
            await log.until(lambda: len(log.started) == 2)

    run_limited(main)


@pytest.mark.parametrize("change", ["package", "addition", "configuration", "binary"])
def test_one_made_from_an_installation_that_changed_is_replaced(
    environment: Path, change: str
) -> None:
    python = str(environment / "bin" / "python")
    [packages] = environment.glob("lib/python*/site-packages")
    (packages / "more.pth").write_text("")

    def alter() -> None:
        if change == "package":
            (packages / "new.py").write_text("")
        elif change == "addition":
            (packages / "more.pth").write_text(f"{environment}\n")
        elif change == "configuration":
            (environment / "pyvenv.cfg").touch()
        else:
            os.unlink(python)
            Path(python).write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
            os.chmod(python, 0o755)

    async def main() -> None:
        async with pool_of(1) as (made, log):
            made.fill(python)
            await log.until(lambda: made.counts == {python: 1})
            alter()

            assert not await takes_warm(made, python)

            await log.until(lambda: made.counts == {python: 1})
            assert log.forgotten == log.started[:1]
            assert await takes_warm(made, python)

    run_limited(main)


def test_one_that_dies_as_it_waits_is_forgotten_and_replaced_but_not_in_a_hurry() -> None:
    async def main() -> None:
        async with pool_of(1) as (made, log):
            made.fill(sys.executable)
            pauses = []
            for count in (1, 2):
                await log.until(lambda count=count: len(log.started) == count)  # type: ignore[misc]
                await log.until(lambda: made.counts == {sys.executable: 1})
                os.kill(log.started[-1], signal.SIGKILL)
                await log.until(lambda: log.forgotten == log.started)
                pauses.append(made.pause(sys.executable))
            assert 0 < pauses[0] < pauses[1]

    run_limited(main)


@pytest.mark.slow
def test_one_that_lives_but_cannot_be_spoken_to_is_ended(limits: Callable[..., None]) -> None:
    limits(end_after_debugger=0.05)

    async def main() -> None:
        async with pool_of(2) as (made, log):
            made.fill(sys.executable)
            await log.until(lambda: made.counts == {sys.executable: 2})
            deaf = log.started[0]
            os.kill(deaf, signal.SIGSTOP)  # or it would end by itself
            [connection] = [each.connection for each in made.list_waiting() if each.pid == deaf]
            connection.close()

            await log.until(lambda: log.forgotten == [deaf])
            await log.until(lambda: made.counts == {sys.executable: 2})

    run_limited(main)


def test_the_python_that_was_not_used_for_longest_is_not_kept_warm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interpreter_pool, "MAX_PYTHONS", 2)
    pythons = [str(tmp_path / name) for name in "abc"]
    for each in pythons:
        os.symlink(os.path.realpath(sys.executable), each)
    first, second, third = pythons

    async def main() -> None:
        async with pool_of(1) as (made, log):
            for each in (first, second):
                made.fill(each)
                await log.until(lambda each=each: made.counts[each] == 1)  # type: ignore[misc]
            assert await takes_warm(made, first)
            made.fill(third)
            assert list(made.counts) == [first, third]
            await log.until(lambda: log.started[1] in log.forgotten)

    run_limited(main)


def test_a_python_that_cannot_be_warmed_is_tried_at_the_next_launch_only(tmp_path: Path) -> None:
    async def main() -> None:
        tries: list[str] = []

        async def fail(python: str) -> Target:
            tries.append(python)
            raise OSError("not in here")

        made = Pool(fail, lambda target: None, 2)
        for count in (1, 2):
            assert made.take("python") is None
            await asyncio.gather(*made.list_filling())
            assert len(tries) == count
        await made.close()

    run_limited(main)
