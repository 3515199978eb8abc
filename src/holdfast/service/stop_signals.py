"""SIGTERM, SIGINT and SIGHUP end the server, whatever it is doing.

The interpreter's own signal handler writes each signal to a pipe. The event loop reads it there and
begins to stop. If the loop is busy, the byte stays in the pipe. The warden watches the same pipe,
and kills a server that leaves a signal unread for a while (`signal_read`). From then on an alarm
of the kernel limits how long an orderly end may take (`server_stops`).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable

from holdfast import timings

_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class StopSignals:
    def __init__(self) -> None:
        self.descriptor, self._written = os.pipe()
        """The end that is read."""
        for end in (self.descriptor, self._written):
            os.set_blocking(end, False)
        self._is_ending = False

    def listen(self, stop: Callable[[], None]) -> None:
        """Call `stop` in the running loop when a signal comes. For the main thread."""
        asyncio.get_running_loop().add_reader(self.descriptor, self._on_signal, stop)
        signal.set_wakeup_fd(self._written, warn_on_full_buffer=False)
        for number in _SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:  # nohup ignores SIGHUP
                signal.signal(number, _do_nothing)

    def limit_ending(self) -> None:
        """Let the kernel end this process after a while, even if no code of ours can run then."""
        if not self._is_ending:
            self._is_ending = True
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.setitimer(signal.ITIMER_REAL, timings.TIMINGS.server_stops)

    def _on_signal(self, stop: Callable[[], None]) -> None:
        numbers = b""
        with contextlib.suppress(BlockingIOError):
            numbers = os.read(self.descriptor, 4096)
        for _ in filter(_SIGNALS.__contains__, numbers):
            if self._is_ending:
                signal.setitimer(signal.ITIMER_REAL, timings.TIMINGS.server_stops_at_once)
            self.limit_ending()
            stop()


def _do_nothing(number: int, frame: object) -> None:
    """The pipe has the signal already. Without a handler it would not be written there."""
