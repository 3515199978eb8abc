"""Whether the agent of a session still runs: it holds a record lock for as long as it does.

The lock is gone with its process, however that ended; a forked child does not hold it. A process
must not open its own lock file a second time: closing that would give up the lock.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from pathlib import Path

try:
    import fcntl
except ImportError:  # no record locks on this system: see `is_alive`
    fcntl = None  # type: ignore[assignment]

from holdfast import timings
from holdfast.recording.directories import SessionDirectory
from holdfast.recording.regular_files import open_regular

_ours: dict[str, int | None] = {}
"""The handle of each lock of this process; None while one is being taken."""
_guard = threading.RLock()
"""Held while a lock file is looked up, opened and closed: no thread may close what another took.
A signal handler may come back here."""


def acquire(path: Path) -> bool:
    """Take it for the life of this process; False if another has it."""
    name = os.path.realpath(path)
    with _guard:
        if name in _ours:
            return False
        _ours[name] = None
    handle: int | None = None
    try:
        handle = _open_locked(path)
    finally:
        with _guard:
            if handle is None:
                del _ours[name]
            else:
                _ours[name] = handle
    return handle is not None


def _open_locked(path: Path) -> int | None:
    """The handle of the lock file; None if another process keeps the lock."""
    handle = open_regular(path, os.O_RDWR | os.O_CREAT)
    if fcntl is None:
        return handle
    deadline = time.monotonic() + timings.TIMINGS.session_free
    while True:
        try:
            fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return handle
        except OSError:
            if time.monotonic() > deadline:
                os.close(handle)
                return None
            time.sleep(0.01)


def release(path: Path) -> None:
    name = os.path.realpath(path)
    with _guard:
        handle = _ours.get(name)
        if handle is not None:
            del _ours[name]
            os.close(handle)


def release_in_child() -> None:
    """In a child: it holds none of them."""
    global _guard
    _guard = threading.RLock()
    for handle in _ours.values():
        if handle is not None:
            with contextlib.suppress(OSError):
                os.close(handle)
    _ours.clear()


def is_alive(home: SessionDirectory) -> bool:
    with _guard:
        if os.path.realpath(home.lock) in _ours:
            return True
        return _has_process(home) if fcntl is None else _is_locked(home.lock)


def _is_locked(path: Path) -> bool:
    """Whether another process has the lock."""
    try:
        handle = open_regular(path, os.O_RDWR)
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
