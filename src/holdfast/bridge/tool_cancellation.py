"""Ending a tool from outside, as far as Python lets one.

- A coroutine is cancelled. If it waits for a thread, that thread goes on to its end: the tool was
  *abandoned*, and is not called cancelled.
- A function in the main thread is interrupted by a signal, in the middle of a system call, too.
  One that comes just before the system call begins does not wake it: so the signal is repeated.
- A function in another thread has an exception raised in it, which it meets at its next instruction
  of Python; what blocks in C is cancelled when that returns.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

_LATER = "it is told at its next instruction of Python; what blocks in C ends when that returns"
_SIGNAL = getattr(signal, "SIGURG", None)  # ignored unless somebody asks for it
_SIGNAL_SECONDS = 0.05


class Announced:
    """A tool whose start is on record and that does not run yet.

    Or one that has returned an awaitable, which nobody awaits yet.
    """

    note: str | None = None
    has_cancelled = False

    def __init__(self, has_returned_awaitable: bool) -> None:
        self.has_returned_awaitable = has_returned_awaitable
        self.is_wanted = False

    def cancel(self) -> bool:
        """When it is about to go on: then it does not."""
        self.is_wanted = True
        return True


class _Interrupted(BaseException):
    """Raised inside a tool. Not an `Exception`, so that the tool does not survive it."""

    of: Interruptible


class Interruptible:
    """A tool that runs as a plain function in this thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread = threading.get_ident()
        self._is_over = False
        is_main = self._thread == threading.main_thread().ident
        self._is_main = is_main and (_is_listening or _install_handler())
        self._class: type[_Interrupted] | None = None
        self.note: str | None = None
        self.has_cancelled = False
        """Whether the tool ended because of it."""

    def cancel(self) -> bool:
        """From another thread. False if it has ended meanwhile."""
        with self._lock:
            if self._is_over:
                return False
            if self._class is not None:
                return True  # it was cancelled already
            self._class = type("_Interrupted", (_Interrupted,), {"of": self})
            if self._is_main and _SIGNAL is not None and _has_our_handler(_SIGNAL):
                _wanted.append(self)
                threading.Thread(
                    target=self._send, args=(_SIGNAL,), name="holdfast-cancel", daemon=True
                ).start()
            else:
                self.note = _LATER
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(self._thread), ctypes.py_object(self._class)
                )
            return True

    def _send(self, number: int) -> None:
        """The signal, until it arrives, or the program takes it for itself."""
        while self in _wanted and _has_our_handler(number):
            signal.pthread_kill(self._thread, number)
            time.sleep(_SIGNAL_SECONDS)

    def exception(self) -> _Interrupted:
        assert self._class is not None
        return self._class()

    def is_cause_of(self, error: BaseException) -> bool:
        """Whether the error comes from this cancellation."""
        if not (isinstance(error, _Interrupted) and error.of is self):
            return False
        self.has_cancelled = True
        return True

    def close(self) -> None:
        """No exception comes from here on; one that is under way arrives in here at the latest."""
        try:
            self._end()
            if self._class is not None:
                for _ in range(1000):
                    pass
        except _Interrupted as error:
            self._end()
            if error.of is not self:  # it is for the tool around this one
                raise

    def _end(self) -> None:
        with self._lock:
            self._is_over = True
        if self._class is not None:
            with contextlib.suppress(ValueError):  # the signal has arrived, perhaps just now
                _wanted.remove(self)

    @property
    def is_over(self) -> bool:
        return self._is_over


_wanted: list[Interruptible] = []
_is_listening = False


def _install_handler() -> bool:
    """Our handler is there, or nobody else's: asked in the main thread."""
    global _is_listening
    if not _is_listening and _SIGNAL is not None and signal.getsignal(_SIGNAL) is signal.SIG_DFL:
        signal.signal(_SIGNAL, _interrupt)
        _is_listening = True
    return _is_listening


def _has_our_handler(number: int) -> bool:
    """Whether the program has not put another in its place since."""
    return signal.getsignal(number) is _interrupt


def _interrupt(_number: int, _frame: Any) -> None:
    while _wanted:
        running = _wanted.pop()
        if not running.is_over:
            raise running.exception()


class Cancellable:
    """A tool that this task awaits."""

    def __init__(self) -> None:
        self._loop = asyncio._get_running_loop()  # none, in somebody else's kind of loop
        self._task = None if self._loop is None else asyncio.current_task()
        self._count_before = _count_cancellations(self._task)
        self._is_over = False
        self._is_wanted = False
        self.is_abandoned = False
        self.note: str | None = None
        self.has_cancelled = False
        """Whether the tool ended because of it."""

    def cancel(self) -> bool:
        """From another thread."""
        if self._is_over or self._loop is None:
            return False
        self._loop.call_soon_threadsafe(self._cancel)
        return True

    def _cancel(self) -> None:
        """In the loop: the task waits somewhere inside the tool, or the tool is over."""
        if self._is_over or self._is_wanted or self._task is None:
            return
        self._is_wanted = True
        self.is_abandoned = _waits_for_thread(self._task)
        self._task.cancel()

    def is_cause_of(self, error: BaseException) -> bool:
        """Whether the error comes from this cancellation."""
        if not (self._is_wanted and isinstance(error, asyncio.CancelledError)):
            return False
        self.has_cancelled = True
        self._take_back()
        # One error stands for all cancellations. Another one may be a timeout, or Ctrl-C.
        return _count_cancellations(self._task) <= self._count_before

    def _take_back(self) -> None:
        """The task is not cancelled any more, as far as this tool is concerned."""
        self._is_wanted = False
        is_counted = _count_cancellations(self._task) > self._count_before
        if is_counted and self._task is not None and hasattr(self._task, "uncancel"):
            self._task.uncancel()

    def close(self) -> None:
        self._is_over = True
        if self._is_wanted:  # the tool went on in spite of it
            self._take_back()


def _count_cancellations(task: asyncio.Task[Any] | None) -> int:
    """How many of them the task has not taken back. Always 0 before Python 3.11."""
    return 0 if task is None or not hasattr(task, "cancelling") else task.cancelling()


def _is_in_worker(task: asyncio.Task[Any]) -> bool:
    """Whether it waits for a thread of anyio's, whose future knows nothing of the thread."""
    waiting: Any = task.get_coro()
    while waiting is not None:
        code = getattr(waiting, "cr_code", None)
        if code is not None and code.co_name == "run_sync_in_worker_thread":
            return True
        waiting = getattr(waiting, "cr_await", None)
    return False


def _waits_for_thread(future: Any, seen: set[int] | None = None) -> bool:
    """Whether what a task waits for is done by a thread, which nobody can cancel.

    `asyncio` ties its future to the executor's with a callback that knows both.
    """
    seen = set() if seen is None else seen
    if future is None or id(future) in seen:
        return False
    seen.add(id(future))
    if isinstance(future, asyncio.Task):
        if _is_in_worker(future):
            return True
        waits_for = (getattr(future, "_fut_waiter", None), *_futures_in(future))
        return any(_waits_for_thread(inner, seen) for inner in waits_for)
    if any(_waits_for_thread(inner, seen) for inner in getattr(future, "_children", None) or ()):
        return True
    for callback, *_ in getattr(future, "_callbacks", None) or ():
        for cell in getattr(callback, "__closure__", None) or ():
            try:
                inside = cell.cell_contents
            except ValueError:
                continue
            if isinstance(inside, asyncio.Future):  # what a shield stands before
                if not inside.done() and _waits_for_thread(inside, seen):
                    return True
            elif hasattr(inside, "running") and callable(inside.running) and inside.running():
                return True
    return False


def _futures_in(task: asyncio.Task[Any]) -> Iterator[asyncio.Future[Any]]:
    """What asyncio's own coroutines in a task hold: `wait_for` does not show what it waits for."""
    coroutine: Any = task.get_coro()
    for _ in range(100):
        frame = getattr(coroutine, "cr_frame", None)
        if frame is None:
            return
        if frame.f_globals.get("__name__", "").startswith("asyncio."):
            for value in list(frame.f_locals.values()):
                if isinstance(value, asyncio.Future) and value is not task and not value.done():
                    yield value
        coroutine = coroutine.cr_await
