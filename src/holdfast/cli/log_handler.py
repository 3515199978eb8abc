"""The server's log on standard error, written by a thread: nobody may be reading it.

A pipe that is full and not read blocks whoever writes to it. That must not be the event loop, so
lines wait in a bounded queue; what does not fit is counted and told later.
"""

from __future__ import annotations

import logging
import os
import queue
import threading

MOST_LINES = 1000
_LAST_SECONDS = 1.0
_STDERR = 2


class PatientHandler(logging.Handler):
    """Never waits for the reader of the log."""

    def __init__(self, descriptor: int = _STDERR, most: int = MOST_LINES) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._lines: queue.Queue[str] = queue.Queue(most)
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
        except Exception:
            self.handleError(record)

    def flush(self) -> None:
        """At the end: what can still be told is told, for a moment."""
        everything = self._lines.all_tasks_done
        with everything:
            everything.wait_for(lambda: not self._lines.unfinished_tasks, _LAST_SECONDS)

    def _write(self) -> None:
        # Not through sys.stderr: its lock, held by a thread that hangs, would hang the exit, too.
        while True:
            data = self._lines.get().encode("utf-8", "backslashreplace")
            try:
                while data:
                    data = data[os.write(self._descriptor, data) :]
            except OSError:
                pass  # there is no standard error any more
            self._lines.task_done()
