"""Warm interpreters: started, armed, and waiting to be told which program to be.

Importing the debugger is most of what a launch costs. A program that needs nothing of its
interpreter's start-up gets one that has done it already; the pool fills up again behind it. One
that died, lost its debugger, or was made from an installation that has changed since is replaced.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field

from holdfast.targets.program.target import Target, Watcher

log = logging.getLogger(__name__)

MOST_PYTHONS = 4
"""So many different ones are kept warm; the one that was not used for longest goes first."""
_YOUNG_SECONDS = 30.0

# What an interpreter reads while it starts: another value means another interpreter.
_AT_START = ("PYTHON", "LANG", "LC_", "LD_", "MALLOC_", "GLIBC_", "__PYVENV")
_AT_START_EXACT = frozenset({"TZ", "HOME"})

Starter = Callable[[str], Awaitable[Target]]
"""Starts and arms one interpreter of this path, with our own environment; it has said hello."""


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


class Installation:
    """What an interpreter was made from, and whether that is still the same.

    Its binary, the file that makes it a virtual environment, the directories that it imports from
    and the `.pth` files in them: installing or upgrading a package touches one of them.
    """

    def __init__(self, python: str, import_path: Iterable[str], since: float) -> None:
        folder = os.path.dirname(python)
        config = [os.path.join(each, "pyvenv.cfg") for each in (folder, os.path.dirname(folder))]
        folders = [each for each in import_path if os.path.isabs(each)]
        additions = [found for each in folders for found in _additions(each)]
        self._stamps = {path: _stamp(path) for path in (python, *config, *folders, *additions)}
        # Changed while it started: nobody knows whether it has seen that.
        times = [stamp[0] / 1e9 for stamp in self._stamps.values() if stamp]
        self._in_time = not any(since <= each <= time.time() for each in times)

    @property
    def same(self) -> bool:
        return self._in_time and all(_stamp(path) == was for path, was in self._stamps.items())


def _additions(folder: str) -> list[str]:
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return [os.path.join(folder, name) for name in names if name.endswith(".pth")]


def _stamp(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino, found.st_size


class _Waiting(Watcher):
    """An interpreter that waits for its program, and what becomes of it until then."""

    def __init__(self, pool: Pool, kind: _Kind, target: Target, installed: Installation) -> None:
        self._pool, self._kind = pool, kind
        self.target = target
        self.installed = installed
        self.since = time.monotonic()

    @property
    def usable(self) -> bool:
        alive = not self.target.ended.is_set() and not self.target.connection.closed
        return alive and self.installed.same

    def exited(self, code: int | None) -> None:
        self._pool.lost(self._kind, self)

    def debugger_lost(self) -> None:
        """It lives, and will never hear from us again."""
        self._pool.lost(self._kind, self)


@dataclass
class _Kind:
    """The warm interpreters of one Python."""

    python: str
    ready: deque[_Waiting] = field(default_factory=deque)
    filling: asyncio.Task[None] | None = None
    pause: float = 0.0
    """How long to wait before the next is started: longer each time that one died young."""


class Pool:
    """A few warm interpreters of each Python that was used lately, of our own from the start."""

    def __init__(self, start: Starter, forget: Callable[[Target], None], size: int) -> None:
        self._start = start
        self._forget = forget
        self._size = size
        self._kinds: OrderedDict[str, _Kind] = OrderedDict()
        self._ends: set[asyncio.Task[None]] = set()
        self._closed = False

    def fill(self, python: str) -> None:
        """Bring this Python up to size, in the background."""
        if self._closed or self._size <= 0:
            return
        kind = self._kinds.setdefault(python, _Kind(python))
        self._kinds.move_to_end(python)
        while len(self._kinds) > MOST_PYTHONS:
            self._give_up(self._kinds.popitem(last=False)[1])
        if kind.filling is None or kind.filling.done():
            kind.filling = asyncio.create_task(self._fill(kind))

    async def _fill(self, kind: _Kind) -> None:
        while len(kind.ready) < self._size:
            await asyncio.sleep(kind.pause)
            since = time.time()
            try:
                target = await self._start(kind.python)
            except Exception as problem:  # a Python that cannot be warmed is started cold
                log.warning("cannot keep %s warm: %s", kind.python, problem)
                return
            installed = Installation(kind.python, target.import_path, since)
            waiting = _Waiting(self, kind, target, installed)
            target.watcher = waiting
            if target.ended.is_set():
                self._died_young(kind, waiting)
                self._forget(target)
            else:
                kind.ready.append(waiting)

    def take(self, python: str) -> Target | None:
        """A warm interpreter, if one is there and fit; another is started in its place."""
        kind = self._kinds.get(python)
        found = None
        while kind is not None and kind.ready and found is None:
            candidate = kind.ready.popleft()
            if candidate.usable:
                found = candidate.target
            else:
                self._end(candidate)
        self.fill(python)
        return found

    def lost(self, kind: _Kind, waiting: _Waiting) -> None:
        """One died, or cannot be spoken to any more, while it waited: another takes its place."""
        if waiting not in kind.ready:
            return
        kind.ready.remove(waiting)
        self._died_young(kind, waiting)
        self._end(waiting)
        if self._kinds.get(kind.python) is kind:
            self.fill(kind.python)

    def _died_young(self, kind: _Kind, waiting: _Waiting) -> None:
        young = time.monotonic() - waiting.since < _YOUNG_SECONDS
        kind.pause = min(2 * kind.pause + 0.5, _YOUNG_SECONDS) if young else 0.0

    def _give_up(self, kind: _Kind) -> None:
        if kind.filling is not None:
            kind.filling.cancel()
        while kind.ready:
            self._end(kind.ready.popleft())

    def _end(self, waiting: _Waiting) -> None:
        async def end() -> None:
            await waiting.target.kill()
            self._forget(waiting.target)

        task = asyncio.create_task(end())
        self._ends.add(task)
        task.add_done_callback(self._ends.discard)

    @property
    def counts(self) -> dict[str, int]:
        return {python: len(kind.ready) for python, kind in self._kinds.items()}

    def waiting(self) -> list[Target]:
        return [each.target for kind in self._kinds.values() for each in kind.ready]

    def filling(self) -> list[asyncio.Task[None]]:
        return [kind.filling for kind in self._kinds.values() if kind.filling is not None]

    def pause(self, python: str) -> float:
        """How long it is to be before another of this Python is started."""
        return self._kinds[python].pause

    async def close(self) -> None:
        self._closed = True
        kinds, filling = list(self._kinds.values()), self.filling()
        self._kinds.clear()
        for kind in kinds:
            self._give_up(kind)
        await asyncio.gather(*filling, return_exceptions=True)
        for kind in kinds:
            self._give_up(kind)  # what was started meanwhile
        await asyncio.gather(*self._ends, return_exceptions=True)
