"""Calls into the program's own code that never wait on it for ever.

A `__repr__` is the user's code: it may sleep, deadlock, recurse or raise. It runs in a helper
thread that the debugger ignores, while the caller waits a bounded time. A helper that does not
come back is abandoned (it is a daemon) and the next call gets a fresh one.
"""

from __future__ import annotations

import contextvars
import os
import threading
from time import monotonic

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing is not cheap to import, and the target may not have asked for it
    from typing import Any, Callable, Dict, List, Optional

# Kept from before the program could replace them (gevent does).
_Lock = threading.Lock

DEFAULT_SECONDS = 0.5
# Starting a call with less than this would blame a healthy type for its neighbours.
_MIN_SECONDS = 0.05
_MAX_ERROR_CHARACTERS = 200


class CallTimedOut(Exception):
    """The call did not come back in time."""


class BudgetSpent(Exception):
    """Earlier calls spent the budget; this one was not tried."""


class CallFailed(Exception):
    """The call raised; `error` is what, as text."""

    def __init__(self, error: str) -> None:
        super().__init__(error)
        self.error = error


class Budget:
    """The time that the calls for one answer may take together."""

    def __init__(self, seconds: float = DEFAULT_SECONDS) -> None:
        self._left = seconds

    def call(self, fn: Callable[[], Any]) -> Any:
        if self._left < _MIN_SECONDS:
            raise BudgetSpent
        started = monotonic()
        try:
            return call(fn, self._left)
        except CallTimedOut:
            self._left = 0.0  # said outright, since a test's frozen clock would not
            raise
        finally:
            self._left -= monotonic() - started


def call(fn: Callable[[], Any], timeout: float) -> Any:
    """What `fn()` returns; raises TooLate or Failed, and nothing of the program's own."""
    job = _Job(fn)
    helper = _take_helper()
    helper.give(job)
    try:
        in_time = job.done.acquire(timeout=timeout)
    except BaseException:  # a Ctrl-C meant for the program
        helper.retire()
        raise
    if not in_time:
        helper.retire()
        raise CallTimedOut
    _return_helper(helper)
    if job.error is not None:
        raise CallFailed(job.error)
    return job.value


def start_helper() -> None:
    """Start the helper now, so that no later call depends on threading's own locks being free."""
    _return_helper(_take_helper())


def describe_error(error: BaseException) -> str:
    """`ValueError: boom`, even when the exception's own `__str__` fails."""
    name = type(error).__name__
    try:
        said = str.__getitem__(str(error), slice(0, _MAX_ERROR_CHARACTERS))
    except BaseException:
        return name
    return "%s: %s" % (name, said) if said else name


class _Job:
    __slots__ = ("_context", "_fn", "done", "error", "value")

    def __init__(self, fn: Callable[[], Any]) -> None:
        self._fn = fn
        self._context = contextvars.copy_context()
        self.done = _Lock()
        self.done.acquire()
        self.value: Any = None
        self.error: Optional[str] = None

    def run(self) -> None:
        try:
            self.value = self._context.run(self._fn)
        except BaseException as error:  # SystemExit and KeyboardInterrupt are only failures here
            self.error = describe_error(error)
        finally:
            self.done.release()


class _Helper(threading.Thread):
    def __init__(self) -> None:
        super().__init__(name="holdfast-repr", daemon=True)
        self.is_pydev_daemon_thread = True
        self.pydev_do_not_trace = True
        self._wake = _Lock()
        self._wake.acquire()
        self._job: Optional[_Job] = None
        self._retired = False

    def give(self, job: _Job) -> None:
        self._job = job
        self._wake.release()

    def retire(self) -> None:
        """End after the call under way, if it ever returns."""
        self._retired = True
        self._wake.release()

    def run(self) -> None:
        while True:
            self._wake.acquire()
            if self._retired:
                return
            job, self._job = self._job, None
            if job is not None:
                job.run()
            del job  # the program's value must not live on here


_guard = _Lock()
_idle: List[_Helper] = []
_slow: Dict[int, type] = {}


def _take_helper() -> _Helper:
    with _guard:
        if _idle:
            return _idle.pop()
    helper = _Helper()
    try:
        helper.start()
    except RuntimeError as error:  # out of threads, or the interpreter is shutting down
        raise CallFailed(describe_error(error)) from None
    return helper


def _return_helper(helper: _Helper) -> None:
    with _guard:
        if not _idle:
            _idle.append(helper)
            return
    helper.retire()


def mark_slow(cls: type) -> None:
    """Do not try this type's repr again in this process."""
    _slow[id(cls)] = cls  # by id: hashing a class runs its metaclass


def is_slow(cls: type) -> bool:
    return id(cls) in _slow


def _forget_helpers() -> None:
    """A forked child has none of its parent's threads, and maybe a lock held by one of them."""
    global _guard
    _guard = _Lock()
    _idle.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_helpers)
