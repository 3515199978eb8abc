"""Notices when the program takes the debugger's tracing away, and tells the server.

Before Python 3.12 a thread has one trace function: the program, or a library such as coverage.py,
may set another, or none. Newer Pythons have room for several tools, but anybody may free them.
"""

from __future__ import annotations

import sys
import threading
from typing import Any, Callable, Dict, Optional, Tuple

from . import line_monitor
from .pydevd_access import current, dap_id, is_detached, is_ours
from .server_messages import report

# By the ident of a thread whose tracing was taken away: its Thread, and whether we traced it then.
_LOST: Dict[int, Tuple[Any, bool]] = {}


def is_lost(ident: int) -> bool:
    return _find_lost(ident) is not None


def _find_lost(ident: int) -> Optional[bool]:
    """Whether it was traced by us when its tracing was taken away; None if it was not taken."""
    known = _LOST.get(ident)
    if known is None:
        return None
    if known[0] is not _find_thread(ident):  # that one has ended, and this one has its ident
        _LOST.pop(ident, None)
        return None
    return known[1]


def _find_thread(ident: int) -> Any:
    return threading._active.get(ident)  # type: ignore[attr-defined]


def install() -> None:
    """Watch the functions with which it can be taken away, once in a process."""
    monitoring: Any = getattr(sys, "monitoring", None)
    if monitoring is not None:
        for name in ("free_tool_id", "set_events"):
            if not hasattr(getattr(monitoring, name), "_holdfast"):
                setattr(monitoring, name, _watch_tool(monitoring, name))
        return
    if not hasattr(sys.settrace, "_holdfast"):
        sys.settrace = _watch_settrace(_find_builtin_settrace())
    if not hasattr(threading.settrace, "_holdfast"):
        threading.settrace = _watch_threads(threading.settrace)


def _find_builtin_settrace() -> Any:
    """Python's own function, which pydevd may have replaced already."""
    import pydevd_tracing

    return pydevd_tracing.TracingFunctionHolder._original_tracing or sys.settrace


def _is_programs(frame: Any) -> bool:
    """Whether it is the program that calls, and a debugger is there to lose."""
    db = current()
    if db is None or db.pydb_disposed or is_detached(db):
        return False
    name = frame.f_code.co_filename
    return not is_ours(name) and name != threading.__file__


# -- before 3.12 ----------------------------------------------------------------------------------


def _watch_settrace(original: Callable[[Any], Any]) -> Any:
    def settrace(function: Any) -> Any:
        before = sys.gettrace()
        original(None)  # the program's own tracer must not see what is called here
        here = sys._getframe()
        here.f_trace = None
        frame = here.f_back
        if _is_programs(frame):
            if is_debuggers(function):
                _note_restored()
            elif is_debuggers(before):
                _note_lost("sys.settrace", frame)
            elif function is not None:  # we do not need it now, but perhaps later
                _note_lost("sys.settrace", frame, was_ours=False)
            elif _find_lost(threading.get_ident()) is False:
                _note_restored()
                return current().enable_tracing()
        return original(function)

    return _mark(settrace)


def _watch_threads(original: Callable[[Any], Any]) -> Any:
    """coverage.py sets a thread's trace function in C, and that of new threads with this."""

    def settrace(function: Any) -> Any:
        answer = original(function)
        now, frame = sys.gettrace(), sys._getframe(1)
        if now is not None and not is_debuggers(now) and _is_programs(frame):
            _note_lost("threading.settrace", frame)
        return answer

    return _mark(settrace)


def _mark(function: Any) -> Any:
    function._holdfast = True
    return function


def is_debuggers(function: Any) -> bool:
    """Whether a trace function is one of ours or of pydevd's, compiled or not."""
    function = getattr(function, "__func__", function)
    code = getattr(function, "__code__", None)
    if code is not None:
        return is_ours(code.co_filename)
    module = getattr(type(function), "__module__", None) or ""
    return module.startswith(("_pydevd", "pydevd"))


def _note_lost(how: str, frame: Any, was_ours: bool = True) -> None:
    ident = threading.get_ident()
    if not is_lost(ident):
        _LOST[ident] = _find_thread(ident), was_ours
        _report("lost", how, frame)


def _note_restored() -> None:
    ident = threading.get_ident()
    if is_lost(ident):
        del _LOST[ident]
        _report("restored", "sys.settrace", None)


# -- 3.12 and newer -------------------------------------------------------------------------------


def _watch_tool(monitoring: Any, name: str) -> Any:
    original = getattr(monitoring, name)

    def change_tool(tool_id: int, *events: Any) -> Any:
        frame = sys._getframe(1)
        pydevd_tool = line_monitor.find_pydevd_tool(monitoring)
        if tool_id not in (pydevd_tool, line_monitor.current_tool()) or not _is_programs(frame):
            return original(tool_id, *events)
        _report("lost", "sys.monitoring." + name, frame)
        if events:
            return original(tool_id, *events)
        # A tool that is freed would still be called, and fail into the program.
        if tool_id == pydevd_tool:
            line_monitor.remove_callbacks(monitoring, tool_id)
            return original(tool_id)
        return line_monitor.close_monitor()

    change_tool.__name__ = name
    return _mark(change_tool)


def _report(state: str, how: str, frame: Optional[Any]) -> None:
    from _pydevd_bundle.pydevd_constants import get_current_thread_id

    is_all_threads = how.startswith("sys.monitoring")
    thread = None if is_all_threads else dap_id(get_current_thread_id(threading.current_thread()))
    place = None
    if frame is not None:
        code = frame.f_code
        place = {"file": code.co_filename, "line": frame.f_lineno, "function": code.co_name}
    report("tracing", state=state, how=how, thread=thread, place=place)
