"""Stops a thread because a watched value was written, and says so in the stop's snapshot.

The interpreter is at the next instruction by then, which may be on another line. So the frame is
shown at the line that wrote; when the user steps from there, the thread stops at once on the line
where it really is, and no line is skipped.
"""

from __future__ import annotations

import sys
import threading
from typing import Any, Dict, List, NamedTuple, Optional, Set

from . import attribute_watch, previews, thread_suspension
from .fingerprints import MISSING
from .line_monitor import current_monitor
from .pydevd_access import canonical, current, is_ours
from .recursion_room import with_room

_BREAKPOINT = 111  # pydevd's CMD_SET_BREAK
# pydevd's CMD_STEP_INTO, CMD_STEP_OVER, their forms for the program's own code, and that which
# it makes of a step into a coroutine.
_STEPS = frozenset((107, 108, 144, 159, 206))

BUSY: Set[int] = set()  # the idents of threads in which we read values, which may write others


class Hit(NamedTuple):
    """One watch that stops a thread."""

    id: int
    name: str
    old: Optional[str]
    new: Optional[str]
    message: Optional[str] = None


class Report(NamedTuple):
    """Why a thread stands still: what was written, in which frame, on which line."""

    hits: List[Hit]
    frame: Any
    line: int


class PendingStop(NamedTuple):
    """A stop that was decided in the middle of a write, for the frame's next event.

    Elsewhere than in a function that Python calls for an event, pydevd would stop our own work.
    """

    frame: Any
    hits: List[Hit]
    line: int

    def make(self) -> None:
        stop(self.frame, self.hits, self.line)


_REPORTS: Dict[int, Report] = {}  # by the ident of a thread


def render(value: Any) -> Optional[str]:
    if value is MISSING:
        return None
    try:
        return previews.Preview().text(value)
    except Exception:  # whatever the value does, the stop is told
        return "<%s object>" % type(value).__name__


def may_stop(frame: Any) -> bool:
    """Whether a write in this frame, in the current thread, is the program's own."""
    thread = threading.current_thread()
    if threading.get_ident() in BUSY or getattr(thread, "is_pydev_daemon_thread", False):
        return False
    db = current()
    if db is None or not thread_suspension.may_suspend(db):
        return False
    info = getattr(thread, "additional_info", None)
    if info is not None and info.is_in_wait_loop:
        return False  # an expression that the user evaluates in a stopped thread
    return not _is_debuggers_work(frame)


def _is_debuggers_work(frame: Any) -> bool:
    """Whether the debugger has called this frame, from within the program.

    Its frames are also at the bottom of what the program runs: from `_exec` on, and in threads
    that it starts for the program.
    """
    is_inside = False
    while frame is not None:
        code = frame.f_code
        if is_ours(code.co_filename) and code not in attribute_watch.TRANSPARENT:
            if code.co_name == "_exec":
                return False
            is_inside = True
        elif is_inside:
            return True
        frame = frame.f_back
    return False


# -- stopping -------------------------------------------------------------------------------------


def stop(frame: Any, hits: List[Hit], line: Optional[int] = None) -> None:
    """Hold the current thread in this frame, shown at `line`, until the user lets it go on.

    Called only by functions that Python itself calls for an event.
    """
    try:
        _stop_with_room(frame, hits, line)
    except RecursionError:  # raised from here, it would be the program's
        pass


def _stop(frame: Any, hits: List[Hit], line: Optional[int]) -> None:
    ident = threading.get_ident()
    shown = frame.f_lineno if line is None else line
    _REPORTS[ident] = Report(hits, frame, shown)
    try:
        thread_suspension.stop_here(frame, [hit.id for hit in hits], _BREAKPOINT, "line")
    finally:
        _REPORTS.pop(ident, None)
    _forget_stop()
    if shown != frame.f_lineno:
        _end_step_here(frame)


_stop_with_room: Any = with_room(_stop)


def _end_step_here(frame: Any) -> None:
    """If the user steps from the line that wrote: the thread is on the next line already."""
    db, thread = current(), threading.current_thread()
    info = getattr(thread, "additional_info", None)
    if db is None or info is None or not _is_stepping(info, frame):
        return
    command = info.pydev_step_cmd
    db.set_suspend(thread, command, original_step_cmd=info.pydev_original_step_cmd)
    info.trace_suspend_type = "sys_monitor" if hasattr(sys, "monitoring") else "trace"
    db.do_wait_suspend(thread, frame, "line", None)
    _forget_stop()


def _forget_stop() -> None:
    """The line monitor must not take a later line event for the one that stopped here."""
    monitor = current_monitor()
    if monitor is not None:
        monitor.forget_stop()


def _is_stepping(info: Any, frame: Any) -> bool:
    if info.pydev_step_cmd not in _STEPS:
        return False
    return info.pydev_step_stop is None or info.pydev_step_stop is frame


# -- in the snapshot ------------------------------------------------------------------------------


def show_line(db: Any, thread_id: str) -> None:
    """Show the frame that wrote at the line that wrote."""
    report = _REPORTS.get(threading.get_ident())
    suspended = db.suspended_frames_manager.get_frames_list(thread_id)
    if report is not None and suspended is not None:
        suspended.frame_id_to_lineno[id(report.frame)] = report.line


def note(hits: List[Hit], frame: Any, line: Optional[int]) -> None:
    """A thread has stopped for another reason, and a watched value was written just before."""
    shown = frame.f_lineno if line is None else line
    _REPORTS[threading.get_ident()] = Report(hits, frame, shown)


def take_report() -> Optional[Report]:
    return _REPORTS.get(threading.get_ident())


def forget_report() -> None:
    _REPORTS.pop(threading.get_ident(), None)


def describe(report: Report) -> Dict[str, Any]:
    hit, code = report.hits[0], report.frame.f_code
    return {
        "id": hit.id,
        "name": hit.name,
        "old": hit.old,
        "new": hit.new,
        "file": canonical(code.co_filename),
        "line": report.line,
        "function": code.co_name,
        "message": hit.message,
    }


def reset() -> None:
    _REPORTS.clear()
    BUSY.clear()
