"""A thread that is held at a line for another reason may have reached a breakpoint there.

When one thread stops, pydevd holds every other at its next line, and asks no breakpoint about it:
the thread would pass it unseen when all run on. So it is asked here. The stop that is under way
tells of it; if nobody has looked by the time that all run on, the thread stops for itself. So it
does when it stopped at the same moment as another, for pydevd tells of one stop only.
"""

from __future__ import annotations

import threading
from typing import Any, List, Set

from . import breakpoint_rules, debugger, line_monitor

_HELD, _BREAKPOINT = 105, 111  # pydevd's CMD_THREAD_SUSPEND and CMD_SET_BREAK
_TOLD: Set[int] = set()  # idents of threads whose breakpoint was shown


def told(ident: Any) -> None:
    """Its stop was sent, or it was listed with its breakpoint."""
    _TOLD.add(ident)


def install(pydevd: Any) -> None:
    wait = pydevd.PyDB.do_wait_suspend

    def do_wait_suspend(
        db: Any, thread: Any, frame: Any, event: str, *args: Any, **more: Any
    ) -> Any:
        if event != "line":
            return wait(db, thread, frame, event, *args, **more)
        _reached(db, thread, frame)
        watching = line_monitor.existing()
        if watching is not None:
            watching.stopped(frame)
        owed = list(thread.additional_info.hit_breakpoint_ids or ())
        _TOLD.discard(threading.get_ident())
        answer = wait(db, thread, frame, event, *args, **more)
        if owed and _is_unseen(thread, owed):
            _stop_for_itself(db, thread, owed)
            answer = wait(db, thread, frame, event, *args, **more)
        return answer

    pydevd.PyDB.do_wait_suspend = do_wait_suspend


def _reached(db: Any, thread: Any, frame: Any) -> None:
    info = thread.additional_info
    if info.hit_breakpoint_ids:
        return
    watching = line_monitor.existing()
    if watching is not None:
        _reached_a_watched_line(watching, thread, frame)
        return
    if thread.stop_reason != _HELD:
        return
    here = db.breakpoints.get(debugger.canonical(frame.f_code.co_filename), {})
    found = here.get(frame.f_lineno)
    if found is not None and db.handle_breakpoint_condition(info, found, frame):
        info.hit_breakpoint_ids = {found.breakpoint_id}


def _reached_a_watched_line(watching: Any, thread: Any, frame: Any) -> None:
    """As pydevd does with its own: a step that comes to a breakpoint is a stop of that."""
    stopping = breakpoint_rules.asked(watching.rules_at(frame), frame)
    if stopping:
        thread.additional_info.hit_breakpoint_ids = stopping
        if thread.stop_reason != _HELD:
            thread.stop_reason = _BREAKPOINT


def _is_unseen(thread: Any, owed: List[int]) -> bool:
    runs = thread.additional_info.pydev_step_cmd == -1  # a step stops it anyway, and soon
    stands = (
        any(number in breakpoint_rules.BOOK.rules for number in owed)
        and debugger.current() is not None
    )
    return runs and stands and threading.get_ident() not in _TOLD


def _stop_for_itself(db: Any, thread: Any, owed: List[int]) -> None:
    thread.additional_info.hit_breakpoint_ids = owed
    everyone = db.multi_threads_single_notification
    db.set_suspend(thread, _BREAKPOINT, suspend_other_threads=everyone)
