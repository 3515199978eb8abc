"""The data directory belongs to one server at a time.

A POSIX record lock, because the kernel lets go of it however the process ends. It has two
surprises. It does not hold between two opens in one process, hence `_held`. And closing *any*
descriptor of the file in this process releases it, so nothing else may open the lock file.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import threading
from pathlib import Path

from holdfast.store.store_errors import StoreInUse
from holdfast.trust.private_files import open_private_file

LOCK_NAME = "holdfast.lock"

_Key = tuple[int, int]
_guard = threading.Lock()
_held: set[_Key] = set()


class DirectoryLock:
    def __init__(self, descriptor: int, key: _Key) -> None:
        self._descriptor = descriptor
        self._key = key

    def release(self) -> None:
        with _guard:
            if self._key in _held:
                _held.remove(self._key)
                os.close(self._descriptor)


def lock_directory(directory: Path) -> DirectoryLock:
    """Hold an existing directory, or raise `StoreInUse` naming who does."""
    status = os.stat(directory)
    key = (status.st_dev, status.st_ino)
    with _guard:
        if key in _held:
            raise _build_in_use(directory, os.getpid())
        descriptor = _lock_file(directory)
        _held.add(key)
    return DirectoryLock(descriptor, key)


def _lock_file(directory: Path) -> int:
    descriptor = open_private_file(directory / LOCK_NAME, os.O_RDWR | os.O_CREAT)
    with contextlib.ExitStack() as undo:
        undo.callback(os.close, descriptor)
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError) as error:
            raise _build_in_use(directory, _read_pid(descriptor)) from error
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        undo.pop_all()
    return descriptor


def _read_pid(descriptor: int) -> int | None:
    text = os.pread(descriptor, 32, 0).strip()
    return int(text) if text.isdigit() else None


def _build_in_use(directory: Path, pid: int | None) -> StoreInUse:
    who = "another server" if pid is None else f"the server with pid {pid}"
    return StoreInUse(
        f"The data directory {directory} is in use by {who}.",
        directory=str(directory),
        pid=pid,
    )
