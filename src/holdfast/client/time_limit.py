"""A limit on how long an expression may run in the thread of a held call.

The expression runs in that thread itself, because it may need its thread-locals, context and event
loop. If it takes too long, another thread raises an exception in it, which arrives at its next
Python instruction. What blocks in C, as a long `time.sleep` does, is interrupted when that returns.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import Any


class _Interrupted(BaseException):
    pass


class _Limit:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread = threading.get_ident()
        self._is_over = False

    def interrupt(self) -> None:
        with self._lock:
            if not self._is_over:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(self._thread), ctypes.py_object(_Interrupted)
                )

    def close(self) -> None:
        """Send no interrupt after this. One that was sent arrives in here at the latest."""
        try:
            self._finish()
            for _ in range(100):
                pass
        except _Interrupted:
            self._finish()

    def _finish(self) -> None:
        with self._lock:
            self._is_over = True


def run_limited(seconds: float, work: Callable[[], Any]) -> Any:
    """Return what `work` does; TimeoutError if it takes longer."""
    limit = _Limit()
    timer = threading.Timer(seconds, limit.interrupt)
    timer.daemon = True
    timer.start()
    try:
        try:
            return work()
        finally:
            limit.close()
    except _Interrupted:
        raise TimeoutError(f"it took longer than {seconds:g} s and was interrupted") from None
    finally:
        timer.cancel()
