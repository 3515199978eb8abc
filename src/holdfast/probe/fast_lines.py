"""A fast path for lines that do not stop, before Python 3.12 and without pydevd's compiled part.

pydevd runs hundreds of lines of its own for each line of a function that holds a breakpoint. What
it decides for a thread that just runs is decided here first: a line known to hold no breakpoint is
passed, and a breakpoint's rules are evaluated. pydevd handles everything else.
"""

from __future__ import annotations

import threading
from typing import Any, Dict

_STATE_RUN, _NO_STEP = 1, -1  # pydevd's STATE_RUN, and its value for "no step under way"
_DECISIONS: Dict[int, bool] = {}  # by a thread's ident: whether the breakpoint that it is at stops


def skip_quiet_lines(pydevd: Any) -> None:
    from _pydevd_bundle import pydevd_trace_dispatch
    from _pydevd_bundle.pydevd_constants import PYDEVD_USE_SYS_MONITORING
    from _pydevd_bundle.pydevd_frame import PyDBFrame

    if PYDEVD_USE_SYS_MONITORING or pydevd_trace_dispatch.USING_CYTHON:
        return
    original = PyDBFrame.trace_dispatch
    should_stop = pydevd.PyDB.handle_breakpoint_condition

    def trace_dispatch(self: Any, frame: Any, event: str, arg: Any) -> Any:
        if event != "line":
            return original(self, frame, event, arg)
        db, paths, info, _thread, known_lines, key = self._args
        breakpoints = db.breakpoints.get(paths[1])
        if not breakpoints or not _is_just_running(db, info):
            return original(self, frame, event, arg)
        line = frame.f_lineno
        point = breakpoints.get(line)
        if point is None:
            if known_lines.get((key, line)) == 0:
                return self.trace_dispatch
            return original(self, frame, event, arg)
        if not point.has_condition:
            return original(self, frame, event, arg)
        info.is_tracing += 1
        try:
            stops = should_stop(db, info, point, frame)
        finally:
            info.is_tracing -= 1
        if not stops and _is_just_running(db, info):
            return self.trace_dispatch
        ident = threading.get_ident()
        _DECISIONS[ident] = stops
        try:
            return original(self, frame, event, arg)
        finally:
            _DECISIONS.pop(ident, None)

    def handle_breakpoint_condition(db: Any, info: Any, point: Any, frame: Any) -> bool:
        """Evaluating a rule counts a hit, so it is evaluated once."""
        stops = _DECISIONS.pop(threading.get_ident(), None) if _DECISIONS else None
        return bool(should_stop(db, info, point, frame) if stops is None else stops)

    PyDBFrame.trace_dispatch = trace_dispatch
    pydevd.PyDB.handle_breakpoint_condition = handle_breakpoint_condition


def _is_just_running(db: Any, info: Any) -> bool:
    return (
        info.pydev_step_cmd == _NO_STEP
        and info.pydev_state == _STATE_RUN
        and not db.pydb_disposed
        and not db.quitting
        and not db.has_plugin_line_breaks
        and not db.has_plugin_exception_breaks
    )
