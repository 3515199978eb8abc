"""Brings SQLite's write-ahead log to the disk, once a second while something is committed.

A commit of calls waits for the disk (`synchronous = FULL`): only the writer waits for it. A request
waits for the others, and the disk may take milliseconds. For those SQLite itself does it only
before a checkpoint (`synchronous = NORMAL`).
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable
from pathlib import Path

SECONDS = 1.0


class LogSync:
    def __init__(self, log: Path, sync: Callable[[int], None] = os.fsync) -> None:
        self._log = log
        self._sync = sync
        self._committed = threading.Event()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._loop, name="holdfast-sync", daemon=True)
        self._thread.start()

    def note_commit(self) -> None:
        self._committed.set()

    def _loop(self) -> None:
        while not self._closed.is_set():
            self._committed.wait()
            self._closed.wait(SECONDS)
            self._committed.clear()
            with contextlib.suppress(OSError):  # a failing disk is the writer's to report
                self._sync_log()

    def _sync_log(self) -> None:
        handle = os.open(self._log, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            self._sync(handle)
        finally:
            os.close(handle)

    def close(self) -> None:
        self._closed.set()
        self._committed.set()
        self._thread.join()
