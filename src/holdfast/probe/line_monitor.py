"""Line and function breakpoints on Python 3.12 and newer: a `sys.monitoring` tool of our own.

pydevd receives an event for every line of a function that holds a breakpoint. Here a line without
one is disabled after its first event, and so is the start of a function without one, so that a
breakpoint costs time at its own place only. Stopping is left to pydevd: the thread waits, is
stepped and inspected as at any other stop.
"""

from __future__ import annotations

import atexit
import sys
import threading
import weakref
from typing import Any, Dict, List, Optional, Tuple

from . import thread_suspension
from .function_table import FUNCTIONS, enter_function
from .pydevd_access import canonical
from .recursion_room import with_room

Rules = Dict[int, List[Any]]  # line -> the rules there
_BREAKPOINT = 111  # pydevd's CMD_SET_BREAK


class LineMonitor:
    """Which lines of which code hold rules; `breakpoint_table` sets them."""

    def __init__(self, monitoring: Any, tool: int) -> None:
        self.api = self._api = monitoring
        self.tool = self._tool = tool
        self._files: Dict[str, Rules] = {}
        # By the id of a code object while it lives: code of two files may be equal.
        self._codes: Dict[int, Tuple[Any, Rules]] = {}
        self._lines: Dict[int, Dict[int, int]] = {}
        self._stopped_at: Dict[int, Any] = {}
        # What `code_watch` wants of the same tool: events of some code objects, and of all code.
        self._extra: Any = None
        self._extra_events: Dict[int, int] = {}
        self._extra_callbacks: Dict[int, Any] = {}
        self._extra_global = 0
        events = monitoring.events
        self._local_events = events.LINE | events.JUMP
        self._stop_with_room: Any = with_room(self._stop)
        monitoring.use_tool_id(tool, "holdfast")
        monitoring.register_callback(tool, events.PY_START, with_room(self._on_start))
        monitoring.register_callback(tool, events.PY_RESUME, with_room(self._on_resume))
        monitoring.register_callback(tool, events.LINE, self._on_line)
        monitoring.register_callback(tool, events.JUMP, self._on_jump)

    # -- set by the table -----------------------------------------------------------------------

    def set_file(self, file: str, rules: Rules) -> None:
        """Replace the rules of one file (a canonical path)."""
        if rules:
            self._files[file] = rules
        else:
            self._files.pop(file, None)
        self._rebuild()

    def update_functions(self) -> None:
        """The function breakpoints have changed."""
        self._rebuild()

    def _rebuild(self) -> None:
        self._ignore_all()
        stopped_at, self._stopped_at = self._stopped_at, {}
        self._set_global_events()
        # Code that runs already sends no PY_START again: look for it on the stacks.
        for ident, frame in list(sys._current_frames().items()):
            self._watch_stack(ident, frame, stopped_at.get(ident))
        self._api.restart_events()

    def _set_global_events(self) -> None:
        has_any = self._files or not FUNCTIONS.is_empty
        starts = self._api.events.PY_START | self._api.events.PY_RESUME
        self._api.set_events(self._tool, (starts if has_any else 0) | self._extra_global)

    def _set_local_events(self, code: Any, events: int) -> None:
        extra = self._extra_events.get(id(code), 0)
        self._api.set_local_events(self._tool, code, events | extra)

    def use_extra(self, extra: Any, callbacks: Dict[int, Any]) -> None:
        """Let `code_watch` use the tool as well, for events of its own."""
        self._extra, self._extra_callbacks = extra, callbacks
        for event, callback in callbacks.items():
            self._api.register_callback(self._tool, event, callback)

    def is_used_by(self, extra: Any) -> bool:
        return self._extra is extra

    def set_extra_events(self, code: Any, events: int) -> None:
        """The caller keeps the code alive as long as it wants events of it."""
        if events:
            self._extra_events[id(code)] = events
        else:
            self._extra_events.pop(id(code), None)
        self._set_local_events(code, self._local_events if id(code) in self._codes else 0)

    def set_extra_global(self, events: int) -> None:
        if events != self._extra_global:
            self._extra_global = events
            self._set_global_events()

    def _watch_stack(self, ident: int, frame: Optional[Any], place: Any) -> None:
        while frame is not None:
            self._watch(frame.f_code)
            if place == (id(frame), frame.f_lasti):
                self._stopped_at[ident] = place  # held there now: our callback is still to come
            frame = frame.f_back

    def watch_stack(self, frame: Any) -> None:
        """Watch code that runs already, on a stack that is no thread's."""
        self._watch_stack(0, frame, None)

    def note_stop(self, frame: Any) -> None:
        """pydevd has stopped this thread at this event: our callback must not stop it again."""
        self._stopped_at[threading.get_ident()] = (id(frame), frame.f_lasti)

    def forget_stop(self) -> None:
        """The thread runs on from a stop that is not of a line."""
        self._stopped_at.pop(threading.get_ident(), None)

    def rules_at(self, frame: Any) -> List[Any]:
        return self._rules_in(frame.f_code).get(frame.f_lineno, [])

    def _rules_in(self, code: Any) -> Rules:
        watched = self._codes.get(id(code))
        return watched[1] if watched is not None else {}

    def _ignore_all(self) -> None:
        for reference, _rules in list(self._codes.values()):
            code = reference()
            if code is not None:
                self._set_local_events(code, 0)
        self._codes, self._lines = {}, {}

    def silence(self) -> None:
        """Stop watching, while a thread may still be in here."""
        self._api.set_events(self._tool, 0)
        events = self._api.events
        own = (events.PY_START, events.PY_RESUME, events.LINE, events.JUMP)
        for event in (*own, *self._extra_callbacks):
            self._api.register_callback(self._tool, event, None)

    def close(self) -> None:
        """Stop watching, and free the tool id."""
        self.silence()
        if self._extra is not None:
            self._extra.close()
            self._extra = None
        self._ignore_all()
        self._api.free_tool_id(self._tool)

    # -- called by the interpreter --------------------------------------------------------------

    def _on_start(self, code: Any, _offset: int) -> Any:
        self._watch(code)
        if FUNCTIONS.is_empty:
            return self._api.DISABLE
        if code.co_name == "<module>":
            FUNCTIONS.search_module(sys._getframe(2))  # `with_room` is between
        entry = FUNCTIONS.find_entry(code)
        if entry is None:
            return self._api.DISABLE
        enter_function(sys._getframe(2), entry)
        return None

    def _on_resume(self, code: Any, _offset: int) -> Any:
        """A generator or coroutine goes on that was on no stack when the breakpoint was set."""
        self._watch(code)
        return self._api.DISABLE

    def _watch(self, code: Any) -> None:
        if id(code) in self._codes or not self._files:
            return
        rules = self._files.get(canonical(code.co_filename))
        if not rules:
            return
        code_lines = {line for _start, _end, line in code.co_lines()}
        rules_here = {line: rules[line] for line in rules if line in code_lines}
        if rules_here:
            number = id(code)
            self._codes[number] = (weakref.ref(code, lambda _: self._forget(number)), rules_here)
            self._set_local_events(code, self._local_events)

    def _forget(self, number: int) -> None:
        """A code object is gone, and its id may become another's."""
        self._codes.pop(number, None)
        self._lines.pop(number, None)

    def _on_line(self, code: Any, line: int, depth: int = 1) -> Any:
        watched = self._codes.get(id(code))
        rules = watched[1].get(line) if watched is not None else None
        extra = self._extra
        if extra is not None and not extra.is_watched(code):
            extra = None
        if rules is None and extra is None:
            return self._api.DISABLE
        frame = sys._getframe(depth)
        try:
            if rules is not None and not (self._stopped_at and self._was_stopped(frame)):
                for rule in rules:
                    if rule.should_stop(frame):
                        self._stop_with_room(frame, rule, rules)
                        break
            if extra is not None and not extra.on_line(frame, line) and rules is None:
                return self._api.DISABLE
        except RecursionError:  # raised from here, it would be the program's
            pass
        return None

    def _on_jump(self, code: Any, start: int, end: int) -> Any:
        """A loop within one line sends no new line event, but reaches the line again."""
        rules_here = self._rules_in(code)
        if not rules_here or end > start:
            return self._api.DISABLE
        lines = self._lines.get(id(code))
        if lines is None:
            lines = self._lines[id(code)] = {
                offset: line
                for first, last, line in code.co_lines()
                for offset in range(first, last, 2)
                if line is not None
            }
        line = lines.get(end, 0)
        if line not in rules_here or lines.get(start) != line:
            return self._api.DISABLE
        return self._on_line(code, line, 2)

    def _was_stopped(self, frame: Any) -> bool:
        place = self._stopped_at.pop(threading.get_ident(), None)
        return bool(place == (id(frame), frame.f_lasti))

    def _stop(self, frame: Any, first: Any, rules: List[Any]) -> None:
        # All rules are evaluated, because each counts and logs.
        later = rules[rules.index(first) + 1 :]
        stopping = [first.id, *(rule.id for rule in later if rule.should_stop(frame))]
        thread_suspension.stop_here(frame, stopping, _BREAKPOINT, "line")
        self._stopped_at.pop(threading.get_ident(), None)


_MONITOR: Optional[LineMonitor] = None


def find_pydevd_tool(monitoring: Any) -> int:
    """The number of pydevd's tool, which gets events before lower ones (`pydevd_patches`)."""
    return next((tool for tool in range(6) if monitoring.get_tool(tool) == "pydevd"), -1)


def _read_pydevd_tool() -> int:
    """The number that pydevd is going to take."""
    from _pydevd_sys_monitoring import pydevd_sys_monitoring

    module: Any = sys.modules[pydevd_sys_monitoring.restart_events.__module__]
    tool: int = module.DEBUGGER_ID
    return tool


def remove_callbacks(monitoring: Any, tool: int) -> None:
    monitoring.set_events(tool, 0)
    events = [getattr(monitoring.events, name) for name in dir(monitoring.events) if name.isupper()]
    for event in events:
        if event and event & (event - 1) == 0:  # a single event; some names stand for several
            # Events of single functions stay on, but nothing is called for them.
            monitoring.register_callback(tool, event, None)


def get_monitor() -> Optional[LineMonitor]:
    """The monitor, created if need be; None without `sys.monitoring`, or without a free tool."""
    global _MONITOR
    monitoring = getattr(sys, "monitoring", None)
    if _MONITOR is None and monitoring is not None:
        pydevd_tool = find_pydevd_tool(monitoring)
        if pydevd_tool == -1:  # breakpoints may come while pydevd is still starting
            pydevd_tool = _read_pydevd_tool()
        for tool in (3, 1):  # Python reserves the others
            if tool < pydevd_tool and monitoring.get_tool(tool) is None:
                _MONITOR = LineMonitor(monitoring, tool)
                atexit.register(close_monitor)  # or it would be called after its modules are gone
                break
    return _MONITOR


def current_monitor() -> Optional[LineMonitor]:
    return _MONITOR


def current_tool() -> int:
    return -1 if _MONITOR is None else _MONITOR.tool


def silence_monitor() -> None:
    if _MONITOR is not None:
        _MONITOR.silence()


def close_monitor() -> None:
    global _MONITOR
    if _MONITOR is not None:
        _MONITOR.close()
        _MONITOR = None
