"""Waking a reader: a FIFO beside the file, into which a writer puts a byte.

Where there are no FIFOs, or nobody has made one, readers find out by looking again.
"""

from __future__ import annotations

import contextlib
import os
import select
import stat
import time
from pathlib import Path

_TRY_AGAIN = 1.0


def open_fifo(path: Path) -> int | None:
    """Open a bell to be woken by; None where that cannot be had."""
    if not hasattr(os, "mkfifo"):
        return None
    try:
        with contextlib.suppress(FileExistsError):
            os.mkfifo(path, 0o600)
        # Open for both, so that it never ends when a writer goes.
        handle = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    if not stat.S_ISFIFO(os.fstat(handle).st_mode):
        os.close(handle)
        return None
    return handle


def wait(handle: int | None, seconds: float) -> None:
    """Wait until it rings, but not longer than that."""
    if handle is None:
        time.sleep(seconds)
        return
    try:
        ready, _, _ = select.select([handle], [], [], seconds)
    except ValueError:  # a descriptor above what select takes
        time.sleep(seconds)
        return
    if ready:
        drain(handle)


def drain(handle: int) -> None:
    with contextlib.suppress(OSError):
        while len(os.read(handle, 4096)) == 4096:
            pass


def ring(path: Path) -> None:
    rope = Ringer(path)
    rope.ring()
    rope.close()


class Ringer:
    """Writes to a wake-up FIFO again and again. Its reader may come and go."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle = -1
        self._next_try = 0.0

    def ring(self) -> None:
        if self._handle < 0 and (time.monotonic() < self._next_try or not self._open()):
            return
        try:
            os.write(self._handle, b"!")
        except BlockingIOError:
            pass  # the FIFO is full, so the reader will wake
        except OSError:
            self.close()

    def _open(self) -> bool:
        self._next_try = time.monotonic() + _TRY_AGAIN
        try:
            handle = os.open(self._path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return False
        if not stat.S_ISFIFO(os.fstat(handle).st_mode):
            os.close(handle)
            return False
        self._handle = handle
        return True

    def close(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)
        self._handle = -1
