"""Warm interpreters: started, armed, and waiting to be told which program to be.

Importing the debugger is most of what a launch costs. A program that needs nothing of its
interpreter's start-up gets one that has done it already; the pool fills up again behind it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections import deque
from collections.abc import Awaitable, Callable, Mapping

from holdfast.targets.program.target import Target

log = logging.getLogger(__name__)

# What an interpreter reads while it starts: another value means another interpreter.
_AT_START = ("PYTHON", "LANG", "LC_", "LD_", "MALLOC_", "GLIBC_", "__PYVENV")
_AT_START_EXACT = frozenset({"TZ", "HOME"})

Starter = Callable[[str], Awaitable[Target]]
"""Starts and arms one interpreter of this path, with our own environment."""


def reads_at_start(name: str) -> bool:
    return name in _AT_START_EXACT or name.startswith(_AT_START)


def environment_changes(wanted: Mapping[str, str]) -> dict[str, str | None] | None:
    """What to change in a warm interpreter's environment; None if it cannot be had that way."""
    ours = os.environ
    changes: dict[str, str | None] = {
        name: value for name, value in wanted.items() if ours.get(name) != value
    }
    changes.update({name: None for name in ours if name not in wanted})
    return None if any(map(reads_at_start, changes)) else changes


class Pool:
    """A few warm interpreters of each Python that has been used, and of our own from the start."""

    def __init__(self, start: Starter, size: int) -> None:
        self._start = start
        self._size = size
        self._ready: dict[str, deque[Target]] = {}
        self._filling: dict[str, asyncio.Task[None]] = {}
        self._closed = False

    def fill(self, python: str) -> None:
        """Bring this Python up to size, in the background."""
        running = self._filling.get(python)
        if self._closed or self._size <= 0 or (running is not None and not running.done()):
            return
        self._filling[python] = asyncio.create_task(self._fill(python))

    async def _fill(self, python: str) -> None:
        ready = self._ready.setdefault(python, deque())
        while len(ready) < self._size:
            try:
                ready.append(await self._start(python))
            except Exception as problem:  # a Python that cannot be warmed is started cold
                log.warning("cannot keep %s warm: %s", python, problem)
                return

    def take(self, python: str) -> Target | None:
        """A warm interpreter, if one is there and alive; another is started in its place."""
        ready = self._ready.get(python, deque())
        found = None
        while ready and found is None:
            candidate = ready.popleft()
            if not candidate.ended.is_set() and not candidate.connection.closed:
                found = candidate
        self.fill(python)
        return found

    @property
    def counts(self) -> dict[str, int]:
        return {python: len(ready) for python, ready in self._ready.items()}

    async def close(self) -> None:
        self._closed = True
        for task in self._filling.values():
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        waiting = [target for ready in self._ready.values() for target in ready]
        self._ready.clear()
        await asyncio.gather(*(target.kill() for target in waiting))
