"""Line breakpoints on Python 3.12 and newer: a `sys.monitoring` tool of our own.

pydevd asks for every line of a function that holds a breakpoint. Here a line without one is
disabled after its first event, so a breakpoint costs nothing but its own line. Stopping is left
to pydevd: the thread waits, is stepped and inspected as at any stop of its own.
"""

from __future__ import annotations

import atexit
import sys
import threading
from typing import Any, Dict, List, Optional

from . import debugger

Rules = Dict[int, List[Any]]  # line -> the rules there
_BREAKPOINT = 111  # pydevd's CMD_SET_BREAK


class Monitor:
    """Which lines of which code hold rules; asked by the interpreter, told by `rules`."""

    def __init__(self, monitoring: Any, tool: int) -> None:
        self._api = monitoring
        self._tool = tool
        self._files: Dict[str, Rules] = {}
        self._codes: Dict[Any, Rules] = {}
        self._lines: Dict[Any, Dict[int, int]] = {}
        self._stopped_at: Dict[int, Any] = {}
        events = monitoring.events
        self._local_events = events.LINE | events.JUMP
        monitoring.use_tool_id(tool, "holdfast")
        monitoring.register_callback(tool, events.PY_START, self._started)
        monitoring.register_callback(tool, events.LINE, self._line)
        monitoring.register_callback(tool, events.JUMP, self._jump)

    # -- told ---------------------------------------------------------------------------------

    def set_file(self, file: str, rules: Rules) -> None:
        """Replace the rules of one file (a canonical path)."""
        if rules:
            self._files[file] = rules
        else:
            self._files.pop(file, None)
        self._renew()

    def _renew(self) -> None:
        for code in self._codes:
            self._api.set_local_events(self._tool, code, 0)
        self._codes, self._lines, self._stopped_at = {}, {}, {}
        wanted = self._api.events.PY_START if self._files else 0
        self._api.set_events(self._tool, wanted)
        # Code that runs already gives no PY_START again: look for it on the stacks.
        for frame in list(sys._current_frames().values()):
            self._watch_stack(frame)
        self._api.restart_events()

    def _watch_stack(self, frame: Optional[Any]) -> None:
        while frame is not None:
            self._watch(frame.f_code)
            frame = frame.f_back

    def stopped(self, frame: Any) -> None:
        """pydevd holds this thread at this very event: ours for it must not stop it again."""
        self._stopped_at[threading.get_ident()] = (id(frame), frame.f_lasti)

    def rules_at(self, frame: Any) -> List[Any]:
        return self._codes.get(frame.f_code, {}).get(frame.f_lineno, [])

    def close(self) -> None:
        """Nothing is watched any more."""
        self._api.set_events(self._tool, 0)
        for code in self._codes:
            self._api.set_local_events(self._tool, code, 0)
        self._api.free_tool_id(self._tool)

    # -- asked --------------------------------------------------------------------------------

    def _started(self, code: Any, _offset: int) -> Any:
        self._watch(code)
        return self._api.DISABLE

    def _watch(self, code: Any) -> None:
        if code in self._codes or not self._files:
            return
        rules = self._files.get(debugger.canonical(code.co_filename))
        if not rules:
            return
        here = {line for _start, _end, line in code.co_lines()}
        found = {line: listed for line, listed in rules.items() if line in here}
        if found:
            self._codes[code] = found
            self._api.set_local_events(self._tool, code, self._local_events)

    def _line(self, code: Any, line: int, depth: int = 1) -> Any:
        found = self._codes.get(code)
        listed = found.get(line) if found is not None else None
        if listed is None:
            return self._api.DISABLE
        frame = sys._getframe(depth)
        if self._stopped_at and self._was_stopped(frame):
            return None
        for rule in listed:
            if rule.stops(frame):
                self._stop(frame, rule, listed)
                break
        return None

    def _jump(self, code: Any, start: int, end: int) -> Any:
        """A loop within one line begins no new line, but comes to it again all the same."""
        found = self._codes.get(code)
        if found is None or end > start:
            return self._api.DISABLE
        lines = self._lines.get(code)
        if lines is None:
            lines = self._lines[code] = {
                offset: line
                for first, last, line in code.co_lines()
                for offset in range(first, last, 2)
                if line is not None
            }
        line = lines.get(end, 0)
        if line not in found or lines.get(start) != line:
            return self._api.DISABLE
        return self._line(code, line, 2)

    def _was_stopped(self, frame: Any) -> bool:
        where = self._stopped_at.pop(threading.get_ident(), None)
        return bool(where == (id(frame), frame.f_lasti))

    def _stop(self, frame: Any, first: Any, listed: List[Any]) -> None:
        # Every rule is asked: each counts, and logs, for itself.
        later = listed[listed.index(first) + 1 :]
        stopping = [first.id, *(rule.id for rule in later if rule.stops(frame))]
        db = debugger.current()
        thread = threading.current_thread()
        if db is None or getattr(thread, "is_pydev_daemon_thread", False):
            return
        info = db.set_additional_thread_info(thread)
        info.hit_breakpoint_ids = stopping
        info.trace_suspend_type = "sys_monitor"
        everyone = db.multi_threads_single_notification
        db.set_suspend(thread, _BREAKPOINT, suspend_other_threads=everyone)
        if not everyone:
            _let_pydevd_listen()
        db.do_wait_suspend(thread, frame, "line", None)
        self._stopped_at.pop(threading.get_ident(), None)


def _let_pydevd_listen() -> None:
    """It has no breakpoints of its own here, so it would not hear of the lines of a step."""
    from _pydevd_sys_monitoring import pydevd_sys_monitoring

    pydevd_sys_monitoring.update_monitor_events(suspend_requested=True)


_MONITOR: Optional[Monitor] = None


def pydevds_tool(monitoring: Any) -> int:
    """The number of pydevd's tool: it is told of a line before those below it (`mends`)."""
    return next((each for each in range(6) if monitoring.get_tool(each) == "pydevd"), -1)


def get() -> Optional[Monitor]:
    """The monitor, where there can be one."""
    global _MONITOR
    monitoring = getattr(sys, "monitoring", None)
    if _MONITOR is None and monitoring is not None:
        first = pydevds_tool(monitoring)
        for tool in (3, 1):  # the others have a settled use
            if tool < first and monitoring.get_tool(tool) is None:
                _MONITOR = Monitor(monitoring, tool)
                atexit.register(drop)  # or it would be asked when modules are gone already
                break
    return _MONITOR


def existing() -> Optional[Monitor]:
    return _MONITOR


def drop() -> None:
    """Watch nothing any more, and let go of the tool."""
    global _MONITOR
    if _MONITOR is not None:
        _MONITOR.close()
        _MONITOR = None
