"""Warm interpreters: started with the debugger loaded, and waiting for a program.

Importing the debugger is most of the cost of a launch. A program that needs nothing of its
interpreter's start-up gets one that has done it already, and the pool starts another. It replaces
an interpreter that died, lost its debugger, or whose installation has changed since.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field

from holdfast.targets.program.target import Replacement, Target, TargetListener

log = logging.getLogger(__name__)

MAX_PYTHONS = 4
"""How many different Pythons are kept warm. The one that was not used for longest goes first."""
_YOUNG_SECONDS = 30.0

# Variables that an interpreter reads while it starts, and not later.
_AT_START = ("PYTHON", "LANG", "LC_", "LD_", "MALLOC_", "GLIBC_", "__PYVENV")
_AT_START_EXACT = frozenset({"TZ", "HOME"})

Starter = Callable[[str], Awaitable[Target]]
"""Starts an interpreter of this path with our own environment, and waits for its hello."""


def reads_at_start(name: str) -> bool:
    return name in _AT_START_EXACT or name.startswith(_AT_START)


def environment_changes(wanted: Mapping[str, str]) -> dict[str, str | None] | None:
    """What to change in a warm interpreter's environment. None if that is not enough."""
    ours = os.environ
    changes: dict[str, str | None] = {
        name: value for name, value in wanted.items() if ours.get(name) != value
    }
    changes.update({name: None for name in ours if name not in wanted})
    return None if any(map(reads_at_start, changes)) else changes


class Installation:
    """The files that an interpreter was started from, and whether they are still the same.

    They are its binary, `pyvenv.cfg`, the directories that it imports from and the `.pth` files in
    them. Installing or upgrading a package touches one of them.
    """

    def __init__(self, python: str, import_path: Iterable[str], since: float) -> None:
        folder = os.path.dirname(python)
        configs = [os.path.join(place, "pyvenv.cfg") for place in (folder, os.path.dirname(folder))]
        folders = [folder for folder in import_path if os.path.isabs(folder)]
        pth_files = [file for folder in folders for file in _list_pth_files(folder)]
        self._stamps = {path: _stamp(path) for path in (python, *configs, *folders, *pth_files)}
        # If a file changed while it started, it may or may not have read the new one.
        times = [stamp[0] / 1e9 for stamp in self._stamps.values() if stamp]
        self._is_certain = not any(since <= changed <= time.time() for changed in times)

    @property
    def is_same(self) -> bool:
        return self._is_certain and all(_stamp(path) == was for path, was in self._stamps.items())


def _list_pth_files(folder: str) -> list[str]:
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return [os.path.join(folder, name) for name in names if name.endswith(".pth")]


def _stamp(path: str) -> tuple[int, int, int] | None:
    try:
        stat = os.stat(path)
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_ino, stat.st_size


class _WarmInterpreter(TargetListener):
    """An interpreter that waits for its program."""

    def __init__(self, pool: Pool, kind: _Kind, target: Target, installed: Installation) -> None:
        self._pool, self._kind = pool, kind
        self.target = target
        self.installed = installed
        self.since = time.monotonic()

    @property
    def is_usable(self) -> bool:
        is_alive = not self.target.ended.is_set() and not self.target.connection.closed
        return is_alive and self.installed.is_same

    def on_exit(self, code: int | None) -> None:
        self._pool.replace(self._kind, self)

    def on_debugger_lost(self, replacement: Replacement | None) -> None:
        self._pool.replace(self._kind, self)


@dataclass
class _Kind:
    """The warm interpreters of one Python."""

    python: str
    ready: deque[_WarmInterpreter] = field(default_factory=deque)
    filling: asyncio.Task[None] | None = None
    pause: float = 0.0
    """Seconds before the next is started. They grow each time that one dies young."""


class Pool:
    """Keeps a few warm interpreters of each Python that was used lately."""

    def __init__(self, start: Starter, forget: Callable[[Target], None], size: int) -> None:
        self._start = start
        self._forget = forget
        self._size = size
        self._kinds: OrderedDict[str, _Kind] = OrderedDict()
        self._ends: set[asyncio.Task[None]] = set()
        self._closed = False

    def fill(self, python: str) -> None:
        """Start as many interpreters of this Python as are missing, in the background."""
        if self._closed or self._size <= 0:
            return
        kind = self._kinds.setdefault(python, _Kind(python))
        self._kinds.move_to_end(python)
        while len(self._kinds) > MAX_PYTHONS:
            self._drop(self._kinds.popitem(last=False)[1])
        if kind.filling is None or kind.filling.done():
            kind.filling = asyncio.create_task(self._fill(kind))

    async def _fill(self, kind: _Kind) -> None:
        while len(kind.ready) < self._size:
            await asyncio.sleep(kind.pause)
            since = time.time()
            try:
                target = await self._start(kind.python)
            except Exception as problem:  # such a Python is started without the pool
                log.warning("cannot keep %s warm: %s", kind.python, problem)
                return
            installed = Installation(kind.python, target.import_path, since)
            waiting = _WarmInterpreter(self, kind, target, installed)
            target.listener = waiting
            if target.ended.is_set():
                self._adjust_pause(kind, waiting)
                self._forget(target)
            else:
                kind.ready.append(waiting)

    def take(self, python: str) -> Target | None:
        """Return a usable interpreter, if there is one, and start another in its place."""
        kind = self._kinds.get(python)
        target = None
        while kind is not None and kind.ready and target is None:
            candidate = kind.ready.popleft()
            if candidate.is_usable:
                target = candidate.target
            else:
                self._end(candidate)
        self.fill(python)
        return target

    def replace(self, kind: _Kind, waiting: _WarmInterpreter) -> None:
        """Replace an interpreter that died, or lost its debugger, while it waited."""
        if waiting not in kind.ready:
            return
        kind.ready.remove(waiting)
        self._adjust_pause(kind, waiting)
        self._end(waiting)
        if self._kinds.get(kind.python) is kind:
            self.fill(kind.python)

    def _adjust_pause(self, kind: _Kind, dead: _WarmInterpreter) -> None:
        is_young = time.monotonic() - dead.since < _YOUNG_SECONDS
        kind.pause = min(2 * kind.pause + 0.5, _YOUNG_SECONDS) if is_young else 0.0

    def _drop(self, kind: _Kind) -> None:
        if kind.filling is not None:
            kind.filling.cancel()
        while kind.ready:
            self._end(kind.ready.popleft())

    def _end(self, waiting: _WarmInterpreter) -> None:
        async def end() -> None:
            await waiting.target.kill()
            self._forget(waiting.target)

        task = asyncio.create_task(end())
        self._ends.add(task)
        task.add_done_callback(self._ends.discard)

    @property
    def counts(self) -> dict[str, int]:
        return {python: len(kind.ready) for python, kind in self._kinds.items()}

    def list_waiting(self) -> list[Target]:
        return [warm.target for kind in self._kinds.values() for warm in kind.ready]

    def list_filling(self) -> list[asyncio.Task[None]]:
        return [kind.filling for kind in self._kinds.values() if kind.filling is not None]

    def pause(self, python: str) -> float:
        """Seconds before another interpreter of this Python is started."""
        return self._kinds[python].pause

    async def close(self) -> None:
        self._closed = True
        kinds, filling = list(self._kinds.values()), self.list_filling()
        self._kinds.clear()
        for kind in kinds:
            self._drop(kind)
        await asyncio.gather(*filling, return_exceptions=True)
        for kind in kinds:
            self._drop(kind)  # interpreters that were started meanwhile
        await asyncio.gather(*self._ends, return_exceptions=True)
