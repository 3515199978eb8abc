"""A plugin of pytest: what the tests start ends with their run, and none of it is left at its end.

Each worker of pytest-xdist is a run of its own in that of the controller.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

import fork_server
import separate_modules
from run_watcher import RunWatcher, watch_this_run

PATIENCE = 60.0
"""Seconds in which what was told to end ends, on a busy machine as well."""
_TICK = 1 / os.sysconf("SC_CLK_TCK")
"""The kernel tells in ticks when a process began."""
_watcher: RunWatcher | None = None
_starts: list[tuple[float, str]] = []
"""When each test began, in seconds since the machine did."""


def pytest_configure() -> None:
    global _watcher
    _watcher = watch_this_run()


def pytest_runtest_logstart(nodeid: str) -> None:
    if _watcher is not None:
        _starts.append((time.clock_gettime(time.CLOCK_BOOTTIME), nodeid))


@pytest.fixture(scope="session", autouse=True)
def _leave_nothing_running(request: pytest.FixtureRequest) -> Iterator[None]:
    """It is the first fixture of all, so that the others have ended when it does."""
    yield
    if _watcher is None or not _watcher.is_of_this_process():
        return
    separate_modules.stop(request.config)  # first: what it has forked may ask the other
    fork_server.stop()
    told = []
    for pid in _watcher.wait_for_others(PATIENCE):
        with contextlib.suppress(psutil.NoSuchProcess):  # it ends now
            process = psutil.Process(pid)
            told.append(_describe(process))
            process.kill()
    if told:
        pytest.fail("tests left processes running:\n" + "\n".join(told), pytrace=False)


def _describe(process: psutil.Process) -> str:
    words = " ".join(process.cmdline())[:300]
    ticks = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[19]
    began = int(ticks) * _TICK
    before = [name for start, name in _starts if start <= began][-1:]
    meanwhile = [name for start, name in _starts if began < start < began + _TICK]
    return f"{process.pid}: {words} (started in {' or '.join(before + meanwhile) or 'no test'})"
