"""Notices when an application's process ends."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable

import psutil

from holdfast.targets.program.process_killer import open_pidfd

_POLL_SECONDS = 1.0


class ProcessWatch:
    """Calls back once when a process has ended. A later process with its pid does not count."""

    def __init__(self, process: psutil.Process, pidfd: int | None, on_end: Callable[[], None]):
        self.started = process.create_time()
        self._process = process
        self._pidfd = pidfd
        self._on_end = on_end
        self._poller: asyncio.Task[None] | None = None
        if pidfd is not None:
            asyncio.get_running_loop().add_reader(pidfd, self._end)
        else:
            self._poller = asyncio.create_task(self._poll())

    @classmethod
    def open(
        cls, pid: int, started: float | None, on_end: Callable[[], None]
    ) -> ProcessWatch | None:
        """None when no such process can be seen from here, or another one has its pid now."""
        try:
            process = psutil.Process(pid)
            if started is not None and abs(process.create_time() - started) > 0.01:
                return None
            return cls(process, open_pidfd(pid), on_end)
        except (psutil.Error, ValueError, OverflowError):
            return None

    async def _poll(self) -> None:
        """For systems without pidfds, where nothing can be waited for."""
        while self._is_alive():  # noqa: ASYNC110
            await asyncio.sleep(_POLL_SECONDS)
        self._end()

    def _is_alive(self) -> bool:
        try:
            return self._process.is_running() and self._process.status() != psutil.STATUS_ZOMBIE
        except psutil.Error:
            return False

    def _end(self) -> None:
        self.close()
        self._on_end()

    def close(self) -> None:
        if self._pidfd is not None:
            asyncio.get_running_loop().remove_reader(self._pidfd)
            with contextlib.suppress(OSError):
                os.close(self._pidfd)
            self._pidfd = None
        if self._poller is not None and self._poller is not asyncio.current_task():
            self._poller.cancel()
        self._poller = None
