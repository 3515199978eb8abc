"""Suspending all threads and resuming them: each as a whole, and every stop is told once.

pydevd marks threads one by one, without a lock. With many threads, one that is about to stop while
the others are resumed would suspend them all again, and nobody would be told. Or it would be
suspended by a debugger that has just gone, or by one that is not connected yet. So both happen
behind one lock here, and a debugger that may stop nothing (any more) suspends nothing.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import Any, Dict, List, Set

from . import timings
from .pydevd_access import current, is_detached

_SUSPENDED = 2  # pydevd's STATE_SUSPEND
_LOCK = threading.RLock()
_PLAIN_OPTIONS = frozenset(("suspend_other_threads",))
# The files of the functions that Python calls for its events, and of those here.
_ENTRANCES = frozenset(
    (
        "_pydevd_sys_monitoring.py",
        "data_stops.py",
        "line_monitor.py",
        "pydevd_frame.py",
        "pydevd_trace_dispatch_regular.py",
        "thread_suspension.py",
    )
)


HELD: Set[int] = set()  # the idents of the threads that are held
"""What the debugger does in the program's threads on behalf of the user, it does while one is."""


def reset_lock() -> None:
    """In a forked child, where no thread is left that could release it."""
    global _LOCK
    _LOCK = threading.RLock()
    HELD.clear()


# -- while the server is there --------------------------------------------------------------------


def disarm(db: Any, is_disarmed: bool = True) -> None:
    """From now on it suspends no thread; or it does again, for the next server."""
    with _LOCK:
        db._holdfast_disarmed = is_disarmed


def may_suspend(db: Any) -> bool:
    return not (
        db.writer is None  # it is not connected yet
        or db.pydb_disposed
        or is_detached(db)
        or getattr(db, "_holdfast_disarmed", False)
    )


def stop_here(frame: Any, numbers: List[int], reason: int, event: str) -> None:
    """Stop the current thread at breakpoints, in a frame of the program's; pydevd does the rest.

    `reason` is the pydevd command that the stop is reported for.
    """
    db = current()
    thread = threading.current_thread()
    if db is None or getattr(thread, "is_pydev_daemon_thread", False) or not may_suspend(db):
        return
    info = db.set_additional_thread_info(thread)
    info.hit_breakpoint_ids = numbers
    is_monitored = hasattr(sys, "monitoring")
    info.trace_suspend_type = "sys_monitor" if is_monitored else "trace"
    stops_all_threads = db.multi_threads_single_notification
    db.set_suspend(thread, reason, suspend_other_threads=stops_all_threads)
    if is_monitored and not stops_all_threads:
        _enable_pydevd_lines()
    db.do_wait_suspend(thread, frame, event, None)


def _enable_pydevd_lines() -> None:
    """pydevd has no breakpoints of its own here, so it would get no line events for a step."""
    from _pydevd_sys_monitoring import pydevd_sys_monitoring

    pydevd_sys_monitoring.update_monitor_events(suspend_requested=True)


def install(pydevd: Any) -> None:
    _guard_suspending(pydevd)
    _tell_every_stop(pydevd)
    _resume_as_a_whole()


def _guard_suspending(pydevd: Any) -> None:
    from _pydevd_bundle.pydevd_thread_lifecycle import mark_thread_suspended

    set_suspend = pydevd.PyDB.set_suspend
    do_wait_suspend = pydevd.PyDB.do_wait_suspend

    def suspend(self: Any, thread: Any, *args: Any, **options: Any) -> Any:
        with _LOCK:
            if not may_suspend(self):
                _release_thread(thread)
                return
            if _is_suspended_with_all(self, thread, options):
                mark_thread_suspended(thread, *args[:1])
            else:
                set_suspend(self, thread, *args, **options)
            behavior = self._threads_suspended_single_notification
            thread._holdfast_stop = behavior._suspend_time_request

    def wait(self: Any, thread: Any, *args: Any, **options: Any) -> Any:
        if not may_suspend(self):
            _release_thread(thread)
        if thread.additional_info.pydev_state != _SUSPENDED:
            return None  # all were resumed before it got here
        ident = threading.get_ident()
        HELD.add(ident)
        try:
            return do_wait_suspend(self, thread, *args, **options)
        except Exception:
            if may_suspend(self):
                raise
            return None  # its connection has gone meanwhile, which is not the program's concern
        finally:
            HELD.discard(ident)

    pydevd.PyDB.set_suspend = suspend
    pydevd.PyDB.do_wait_suspend = wait


def _is_suspended_with_all(db: Any, thread: Any, options: Dict[str, Any]) -> bool:
    """Whether another thread has suspended all, this one included, before it got to its own stop.

    Suspending all is slow with many threads. If each of a hundred did it, it would take seconds.
    """
    info = getattr(thread, "additional_info", None)
    is_suspended = info is not None and info.pydev_state == _SUSPENDED
    return is_suspended and db.multi_threads_single_notification and set(options) <= _PLAIN_OPTIONS


def _tell_every_stop(pydevd: Any) -> None:
    """pydevd tells one stop for all threads: the first since they were resumed."""
    from _pydevd_bundle.pydevd_comm_constants import CMD_THREAD_SUSPEND

    behavior = pydevd.AbstractSingleNotificationBehavior
    on_thread_suspend = behavior.on_thread_suspend

    def begin_next_stop(self: Any) -> None:
        with self._lock:
            # A second thread that stops must not count as the next stop before all are resumed.
            if self._last_resume_notification_time >= self._last_suspend_notification_time:
                self._suspend_time_request = self._next_request_time()

    def tell(self: Any, thread_id: str, thread: Any, stop_reason: Any) -> None:
        stop = vars(thread).pop("_holdfast_stop", None)
        with _LOCK:
            # One that is late may be a part of a stop that was told before some thread was resumed:
            # the next stop is for that thread to tell.
            is_told = stop is not None and stop <= self._last_suspend_notification_time
            is_own = stop_reason != CMD_THREAD_SUSPEND
            if thread.additional_info.pydev_state == _SUSPENDED and not (is_own and is_told):
                on_thread_suspend(self, thread_id, thread, stop_reason)
                return
        with self._lock:
            self._suspended_thread_id_to_thread[thread_id] = thread

    behavior.increment_suspend_time = begin_next_stop
    behavior.on_thread_suspend = tell


def _resume_as_a_whole() -> None:
    from _pydevd_bundle import pydevd_api, pydevd_comm, pydevd_thread_lifecycle, pydevd_vars

    original = pydevd_thread_lifecycle.resume_threads

    def resume_threads(thread_id: str, except_thread: Any = None) -> None:
        db = current()
        with _LOCK:
            if db is not None:
                _expect_next_stop(db)
            original(thread_id, except_thread)
            if db is not None:
                _wake_threads(db)

    for module in (pydevd_thread_lifecycle, pydevd_api, pydevd_comm, pydevd_vars):
        if getattr(module, "resume_threads", None) is original:
            module.resume_threads = resume_threads


def _expect_next_stop(db: Any) -> None:
    """What stops from now on is a new stop, even if no thread has begun to run yet."""
    behavior = db._threads_suspended_single_notification
    with behavior._lock:
        behavior._suspend_time_request = behavior._next_request_time()


def _wake_threads(db: Any) -> None:
    """A suspended thread looks at its state five times a second, unless it is woken."""
    for event in list(db._thread_events.values()):
        event.set()


# -- when it goes ---------------------------------------------------------------------------------


def release_threads(db: Any) -> None:
    """Let every thread run: none is suspended, none steps, none has a command to carry out."""
    with _LOCK:
        for thread in threading.enumerate():
            _release_thread(thread)
        for queue in list(db._cmd_queue.values()):
            while not queue.empty():
                queue.get_nowait()
        _wake_threads(db)


def _release_thread(thread: Any) -> None:
    info = getattr(thread, "additional_info", None)
    if info is None:
        return
    from _pydevd_bundle.pydevd_additional_thread_info import set_additional_thread_info
    from _pydevd_bundle.pydevd_thread_lifecycle import internal_run_thread

    info.hit_breakpoint_ids = None
    info.step_in_initial_location = None
    internal_run_thread(thread, set_additional_thread_info)


def wait_until_left() -> None:
    """Wait until no thread of the program is inside the debugger, for a while at most."""
    end = time.monotonic() + timings.TIMINGS.debugger_left
    while _is_any_inside() and time.monotonic() < end:
        time.sleep(0.002)  # a thread that leaves a trace function tells nobody


def _is_any_inside() -> bool:
    ours = {
        thread.ident
        for thread in threading.enumerate()
        if getattr(thread, "is_pydev_daemon_thread", False)
    }
    ours.add(threading.get_ident())
    stacks = sys._current_frames()
    return any(_is_inside(frame) for ident, frame in stacks.items() if ident not in ours)


def _is_inside(frame: Any) -> bool:
    while frame is not None:
        if os.path.basename(frame.f_code.co_filename) in _ENTRANCES:
            return True
        frame = frame.f_back
    return False


def forget_threads() -> None:
    """Before the next debugger: nothing that the last one noted of a thread is left."""
    from _pydevd_bundle.pydevd_additional_thread_info import (
        remove_additional_info,
        set_additional_thread_info,
    )

    for thread in threading.enumerate():
        info = getattr(thread, "additional_info", None)
        if info is not None:
            _release_thread(thread)
            remove_additional_info(info)
            delattr(thread, "additional_info")
            set_additional_thread_info(thread)
    if hasattr(sys, "monitoring"):
        from _pydevd_sys_monitoring import pydevd_sys_monitoring

        pydevd_sys_monitoring.reset_thread_local_info()
