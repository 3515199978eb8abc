"""Calls into the program's own code with a time limit.

A `__repr__` is the user's code: it may sleep, deadlock, recurse or raise. It runs in a helper
thread that the debugger ignores, while the caller waits a limited time. A helper that does not
return is abandoned (it is a daemon), and the next call gets a new one.
"""

from __future__ import annotations

import contextvars
import os
import threading
from time import monotonic

from . import timings

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing is not cheap to import, and the target may not have asked for it
    from typing import Any, Callable, Dict, List, Optional, Tuple

# Kept, since the program may replace it (gevent does).
_Lock = threading.Lock

# With less than this part of its time left, a call would time out because of earlier ones.
_MIN_PART = 0.1
_MAX_SHARES = 3  # together, the calls of an answer take so many times what one class may take
_SLOW_PART = 0.4  # a class that was waited for so long in vain is not asked again
_NO_SHARE = float("inf")
_MAX_ERROR_CHARACTERS = 200


class CallTimedOut(Exception):
    """The call did not return within so many `seconds`."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


class BudgetSpent(Exception):
    """Earlier calls used up the time; this one was not tried."""


class CallFailed(Exception):
    """The call raised; `error` describes the exception."""

    def __init__(self, error: str) -> None:
        super().__init__(error)
        self.error = error


class Budget:
    """How long the calls for one answer may take, for each owner and together.

    The owner of a call is a class of the program. One whose calls are slow uses up its own share
    and leaves the others theirs. Each that does so halves what the next ones get.
    """

    def __init__(self, seconds: Optional[float] = None) -> None:
        if seconds is None:
            seconds = timings.TIMINGS.value_call
        self._min = seconds * _MIN_PART
        self._share = seconds
        self._remaining = seconds * _MAX_SHARES
        self._spent: Dict[int, float] = {}

    def call(self, fn: Callable[[], Any], owner: Optional[type] = None) -> Any:
        spent = self._spent.get(id(owner), 0.0)
        seconds = min(self._share - spent, self._remaining)
        if seconds < self._min:
            raise BudgetSpent
        started = monotonic()
        try:
            value = call(fn, seconds)
        except CallTimedOut:
            self._note(owner, spent, seconds)  # a program may freeze the clock
            raise
        except CallFailed:
            self._note(owner, spent, monotonic() - started)
            raise
        self._note(owner, spent, monotonic() - started)
        return value

    def _note(self, owner: Optional[type], before: float, seconds: float) -> None:
        self._remaining -= seconds
        self._spent[id(owner)] = before + seconds
        if self._share - before - seconds < self._min:
            self._spent[id(owner)] = _NO_SHARE
            self._share = max(self._min, self._share / 2)


def call(fn: Callable[[], Any], timeout: float) -> Any:
    """Return `fn()`; raises CallTimedOut or CallFailed, never an exception of the program's."""
    job = _Job(fn)
    helper = _take_helper()
    helper.start_job(job)
    try:
        is_done = job.done.acquire(timeout=timeout)
    except BaseException:  # a Ctrl-C meant for the program
        helper.retire()
        raise
    if not is_done:
        helper.retire()
        raise CallTimedOut(timeout)
    _return_helper(helper)
    if job.error is not None:
        raise CallFailed(job.error)
    return job.value


def start(fn: Callable[[], None]) -> None:
    """Run it in a helper, and do not wait for it."""
    helper = _take_helper()

    def work() -> None:
        try:
            fn()
        finally:
            _return_helper(helper)

    helper.start_job(_Job(work))


def start_helper() -> None:
    """Start the helper now, while no other thread can hold a lock that starting one needs."""
    _return_helper(_take_helper())


def describe_error(error: BaseException) -> str:
    """`ValueError: boom`, even when the exception's own `__str__` fails."""
    name = type(error).__name__
    try:
        message = str.__getitem__(str(error), slice(0, _MAX_ERROR_CHARACTERS))
    except BaseException:
        return name
    return "%s: %s" % (name, message) if message else name


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

    def start_job(self, job: _Job) -> None:
        self._job = job
        self._wake.release()

    def retire(self) -> None:
        """End after the call under way, if it ever returns; or at once, if it has not begun."""
        self._retired = True
        if self._wake.locked():  # else it is released: the helper wakes, and sees this
            self._wake.release()

    def run(self) -> None:
        while True:
            self._wake.acquire()
            if self._retired:
                return
            job, self._job = self._job, None
            if job is not None:
                job.run()
            del job  # or the program's value would stay alive here


_guard = _Lock()
_idle: List[_Helper] = []
_late: Dict[int, Tuple[type, float]] = {}  # the types are kept, so that their ids stay theirs


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


def note_late(cls: type, seconds: float) -> None:
    """This type's repr did not return within these seconds, and perhaps had too few."""
    _late[id(cls)] = (cls, _late.get(id(cls), (cls, 0.0))[1] + seconds)


def is_slow(cls: type) -> bool:
    """Whether this type's repr is not to be tried again in this process."""
    late = _late.get(id(cls))  # by id: hashing a class runs its metaclass
    return late is not None and late[1] >= timings.TIMINGS.value_call * _SLOW_PART


def _forget_helpers() -> None:
    """A forked child has no threads of its parent, but perhaps a lock that one of them held."""
    global _guard
    _guard = _Lock()
    _idle.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_helpers)
