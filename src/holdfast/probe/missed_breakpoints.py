"""Breakpoints that a thread reaches while pydevd suspends it for another reason.

When one thread stops, pydevd suspends every other at its next line without checking that line's
breakpoints, and the thread would pass them when all run on. So they are checked here. The stop
under way lists them. If nobody has looked by the time that all run on, the thread stops again for
its own breakpoint. The same goes for two threads that stop at once, since pydevd reports one stop.
"""

from __future__ import annotations

import threading
from typing import Any, List, Set

from . import line_monitor, thread_suspension
from .breakpoint_rules import find_stopping
from .breakpoint_table import hits_of
from .pydevd_access import PAUSED_ALONE, canonical, current

_SUSPENDED, _BREAKPOINT = 105, 111  # pydevd's CMD_THREAD_SUSPEND and CMD_SET_BREAK
_REPORTED: Set[int] = set()  # idents of the threads whose breakpoint the server knows of


def mark_reported(ident: Any) -> None:
    """The thread's stop was sent, or it was listed with its breakpoint."""
    _REPORTED.add(ident)


def install(pydevd: Any) -> None:
    wait = pydevd.PyDB.do_wait_suspend

    def do_wait_suspend(
        db: Any, thread: Any, frame: Any, event: str, *args: Any, **more: Any
    ) -> Any:
        if event not in ("line", "call"):
            return wait(db, thread, frame, event, *args, **more)
        monitor = line_monitor.current_monitor()
        if event == "line" and not thread.additional_info.hit_breakpoint_ids:
            if monitor is not None:
                _check_monitored_line(monitor, thread, frame)
            elif thread.stop_reason in (_SUSPENDED, PAUSED_ALONE):
                _check_pydevd_line(db, thread, frame)
        if monitor is not None:
            monitor.note_stop(frame)
        reason = _BREAKPOINT if event == "line" else thread.stop_reason
        pending = list(thread.additional_info.hit_breakpoint_ids or ())
        _REPORTED.discard(threading.get_ident())
        answer = wait(db, thread, frame, event, *args, **more)
        while pending and thread_suspension.may_suspend(db) and _is_unreported(thread, pending):
            thread.additional_info.hit_breakpoint_ids = pending
            stops_all_threads = db.multi_threads_single_notification
            db.set_suspend(thread, reason, suspend_other_threads=stops_all_threads)
            answer = wait(db, thread, frame, event, *args, **more)
        return answer

    pydevd.PyDB.do_wait_suspend = do_wait_suspend


def _check_pydevd_line(db: Any, thread: Any, frame: Any) -> None:
    breakpoints = db.breakpoints.get(canonical(frame.f_code.co_filename), {})
    reached = breakpoints.get(frame.f_lineno)
    info = thread.additional_info
    if reached is not None and db.handle_breakpoint_condition(info, reached, frame):
        info.hit_breakpoint_ids = {reached.breakpoint_id}


def _check_monitored_line(monitor: Any, thread: Any, frame: Any) -> None:
    """As pydevd does with its own lines: a step that reaches a breakpoint stops for that."""
    stopping = find_stopping(monitor.rules_at(frame), frame)
    if stopping:
        thread.additional_info.hit_breakpoint_ids = stopping
        if thread.stop_reason != _SUSPENDED:
            thread.stop_reason = _BREAKPOINT


def _is_unreported(thread: Any, pending: List[int]) -> bool:
    runs_on = thread.additional_info.pydev_step_cmd == -1  # a step stops it anyway, and soon
    ident = threading.get_ident()
    still_set = bool(hits_of(ident, pending))
    return runs_on and still_set and ident not in _REPORTED and current() is not None
