"""Writes the server's log to standard error in a thread of its own.

If nobody reads standard error, a full pipe blocks whoever writes to it. That must not be the event
loop. So lines wait in a bounded queue. Lines that do not fit are counted and reported later.
"""

from __future__ import annotations

import logging
import os
import queue
import threading

from holdfast import timings

MAX_LINES = 1000
_STDERR = 2


class QueueLogHandler(logging.Handler):
    """Queues log lines, and never blocks."""

    def __init__(self, descriptor: int = _STDERR, max_lines: int = MAX_LINES) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._lines: queue.Queue[str] = queue.Queue(max_lines)
        self._dropped = 0
        threading.Thread(target=self._write, name="holdfast-log", daemon=True).start()

    def emit(self, record: logging.LogRecord) -> None:
        try:
            if self._dropped:
                self._lines.put_nowait(f"({self._dropped} lines of the log were dropped)\n")
                self._dropped = 0
            self._lines.put_nowait(self.format(record) + "\n")
        except queue.Full:
            self._dropped += 1
        except Exception:  # as the handlers of the standard library do: logging never raises
            self.handleError(record)

    def flush(self) -> None:
        """Wait a moment until the queue is written."""
        all_done = self._lines.all_tasks_done
        with all_done:
            all_done.wait_for(lambda: not self._lines.unfinished_tasks, timings.TIMINGS.log_written)

    def _write(self) -> None:
        # Not through sys.stderr: a thread that hangs with its lock would block the exit.
        while True:
            data = self._lines.get().encode("utf-8", "backslashreplace")
            try:
                while data:
                    data = data[os.write(self._descriptor, data) :]
            except OSError:
                pass  # standard error is closed
            self._lines.task_done()
