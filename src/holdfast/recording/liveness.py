"""Whether the agent of a session still runs: it holds a record lock for as long as it does.

The lock is gone with its process, however that ended; a forked child does not hold it. A process
must not open its own lock file a second time: closing that would give up the lock.
"""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

try:
    import fcntl
except ImportError:  # no record locks on this system: see `is_alive`
    fcntl = None  # type: ignore[assignment]

from holdfast import timings
from holdfast.recording.directories import SessionDirectory
from holdfast.recording.regular_files import open_regular

_ours: dict[str, int] = {}


def acquire(path: Path) -> bool:
    """Take it for the life of this process; False if another has it."""
    name = os.path.realpath(path)
    if name in _ours:
        return False
    handle = open_regular(path, os.O_RDWR | os.O_CREAT)
    if fcntl is not None:
        deadline = time.monotonic() + timings.TIMINGS.session_free
        while True:
            try:
                fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:
                if time.monotonic() > deadline:
                    os.close(handle)
                    return False
                time.sleep(0.01)
    _ours[name] = handle
    return True


def release(path: Path) -> None:
    handle = _ours.pop(os.path.realpath(path), None)
    if handle is not None:
        os.close(handle)


def release_in_child() -> None:
    """In a child: it holds none of them."""
    for handle in _ours.values():
        with contextlib.suppress(OSError):
            os.close(handle)
    _ours.clear()


def is_alive(home: SessionDirectory) -> bool:
    if os.path.realpath(home.lock) in _ours:
        return True
    if fcntl is None:
        return _has_process(home)
    try:
        handle = open_regular(home.lock, os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.lockf(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    else:
        return False
    finally:
        os.close(handle)


def _has_process(home: SessionDirectory) -> bool:
    about = home.read_metadata()
    try:
        os.kill(int(about["pid"]), 0)
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return "endTime" not in about


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=release_in_child)
