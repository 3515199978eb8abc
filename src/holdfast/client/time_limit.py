"""A bound on how long an expression may run in the thread of a held call.

It runs in that thread itself, whose thread-locals, context and event loop it may need. One that
takes too long has an exception raised in it from outside, which reaches it at its next
instruction of Python: what blocks in C, as a long `time.sleep` does, is interrupted when that
returns.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import Any


class _Interrupted(BaseException):
    pass


class _Bound:
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
        """No interrupt comes from here on; one that was sent arrives in here at the latest."""
        try:
            self._end()
            for _ in range(100):
                pass
        except _Interrupted:
            self._end()

    def _end(self) -> None:
        with self._lock:
            self._is_over = True


def bounded(seconds: float, work: Callable[[], Any]) -> Any:
    """What `work` gives; TimeoutError if it takes longer."""
    bound = _Bound()
    timer = threading.Timer(seconds, bound.interrupt)
    timer.daemon = True
    timer.start()
    try:
        try:
            return work()
        finally:
            bound.close()
    except _Interrupted:
        raise TimeoutError(f"it took longer than {seconds:g} s and was interrupted") from None
    finally:
        timer.cancel()
