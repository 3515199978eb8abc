"""Ends whatever a run of the tests or of the benchmark has started, once that run is gone.

A run marks itself, and so all processes that come from it: every child inherits the hard limit of
file locks (RLIMIT_LOCKS), also one with an empty environment or in a session of its own. The kernel
has ignored that limit since 2.4.25. Holdfast tags its targets with the soft limit of the same.

A watcher process waits until the run is gone, in whatever way, and kills all that carry its mark.
A run inside a run (a worker of pytest-xdist, a benchmark that a test starts) has a mark of its own;
its watcher waits for the end of either. Where this does not work, nothing is done.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable

from holdfast.targets.program import process_tags, warden

_LEVEL_BITS, _PID_BITS = 60, 22
"""A mark has the level of its run, random bits, and the run's pid. Tags have no more bits than
those below the level: a mark is larger than any tag, and the two cannot be confused. A limit can
only be lowered, so that the level of a run inside another is lower."""
_HIGHEST_LEVEL = 7
_HARD_LIMIT = re.compile(rb"^Max file locks +\w+ +(\d+)", re.MULTILINE)


class RunWatcher:
    """Marks this process as a run, and starts the process that watches it."""

    def __init__(self, mark: int, pids: list[int]) -> None:
        self._mark, self._run = mark, os.getpid()
        _set_hard_limit(mark)
        argv = [sys.executable, __file__, str(mark), *map(str, pids)]
        nothing = subprocess.DEVNULL
        self._process = subprocess.Popen(
            argv, cwd="/", stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True
        )

    def is_of_this_process(self) -> bool:
        """Not of the one that this was forked from."""
        return self._run == os.getpid()

    def list_others(self) -> list[int]:
        """The living processes of this run, but for this one and the watcher."""
        return [pid for pid in find_marked(self._mark) if pid != self._process.pid]

    def wait_for_others(self, seconds: float) -> list[int]:
        """Those that are still there when all have had so many seconds to end."""
        deadline = time.monotonic() + seconds
        while (others := self.list_others()) and time.monotonic() < deadline:
            wait_for_ends(others, deadline - time.monotonic())
        return others


def watch_this_run() -> RunWatcher | None:
    """Let everything that this process starts from now on end with it, where that works."""
    if not process_tags.tags_work() or not hasattr(os, "pidfd_open"):
        return None
    own, outer_mark = os.getpid(), read_mark(os.getpid())
    level = _HIGHEST_LEVEL if outer_mark is None else (outer_mark >> _LEVEL_BITS) - 1
    if level < 1 or own >> _PID_BITS:
        return None
    random_bits = secrets.randbits(_LEVEL_BITS - _PID_BITS)
    mark = (level << _LEVEL_BITS) | (random_bits << _PID_BITS) | own
    return RunWatcher(mark, [own] if outer_mark is None else [own, outer_mark % (1 << _PID_BITS)])


def read_mark(pid: int) -> int | None:
    """The mark of the run that a process comes from."""
    try:
        with open(f"/proc/{pid}/limits", "rb") as file:
            found = _HARD_LIMIT.search(file.read())
    except OSError:
        return None
    limit = int(found[1]) if found else 0
    return limit if limit >> _LEVEL_BITS else None


def find_marked(mark: int, act: Callable[[int], object] = bool) -> list[int]:
    """The living processes with this mark, but for this one. `act` is called with each."""
    return warden.sweep(lambda pid: read_mark(pid) == mark, act)


def wait_for_ends(pids: list[int], seconds: float) -> bool:
    """Wait until all have ended, for so many seconds. Say whether they have."""
    deadline = time.monotonic() + seconds
    return all(_wait_for_any([pid], deadline - time.monotonic()) for pid in pids)


def _wait_for_any(pids: list[int], seconds: float | None) -> bool:
    files: list[int] = []
    try:
        for pid in pids:
            try:
                files.append(os.pidfd_open(pid))
            except ProcessLookupError:
                return True
        timeout = None if seconds is None else max(0.0, seconds)
        return bool(select.select(files, [], [], timeout)[0])
    finally:
        for file in files:
            os.close(file)


def _set_hard_limit(mark: int) -> None:
    import resource

    soft, _ = resource.getrlimit(process_tags.RLIMIT_LOCKS)
    is_tagged = 0 <= soft < 1 << _LEVEL_BITS
    limits = (soft if is_tagged else mark, mark)
    resource.setrlimit(process_tags.RLIMIT_LOCKS, limits)


def _kill_marked(mark: int) -> None:
    """Kill until two sweeps in a row find nothing: one may miss a process that is being forked."""
    quiet = 0
    for _ in range(warden.ROUNDS):
        quiet = 0 if find_marked(mark, _kill) else quiet + 1
        if quiet == 2:
            return
        time.sleep(warden.PAUSE)


def _kill(pid: int) -> None:
    with contextlib.suppress(OSError):  # it has ended, or is not ours
        os.kill(pid, signal.SIGKILL)


def main() -> None:
    mark, *runs = map(int, sys.argv[1:])
    _wait_for_any(runs, None)
    _kill_marked(mark)


if __name__ == "__main__":
    main()
