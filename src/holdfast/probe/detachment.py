"""Letting go: a process without us runs at full speed, and stops nowhere.

A forked child is set free in its one thread. A program whose server has gone, or detached from
it, is set free in all of its threads, from the debugger's own.
"""

from __future__ import annotations

import sys
import threading
from typing import Any


def forked() -> None:
    """In a forked child, before its first line."""
    threading.settrace(None)
    if hasattr(sys, "monitoring"):
        _stop_monitoring(sys.monitoring)
        return
    import pydevd_tracing

    pydevd_tracing.restore_sys_set_trace_func()
    sys.settrace(None)


def everywhere(db: Any) -> None:
    """In every thread, from any."""
    db._holdfast_let_go = True
    db.enable_tracing = lambda *_args, **_options: None  # or a thread on its way would do it again
    threading.settrace(None)
    if hasattr(sys, "monitoring"):
        _stop_monitoring(sys.monitoring)
        return
    import pydevd_tracing

    pydevd_tracing.restore_sys_set_trace_func()
    # A thread can be traced from outside, but only itself can stop being traced.
    pydevd_tracing.set_trace_to_threads(_take_off, create_dummy_thread=False)


def _take_off(_frame: Any, _event: str, _arg: Any) -> None:
    sys.settrace(None)


def _stop_monitoring(monitoring: Any) -> None:
    from . import line_monitor

    line_monitor.drop()
    tool = line_monitor.pydevds_tool(monitoring)
    if tool < 0:
        return
    monitoring.set_events(tool, 0)
    every = [getattr(monitoring.events, name) for name in dir(monitoring.events) if name.isupper()]
    for event in every:
        if event and event & (event - 1) == 0:  # a single one; some names stand for several
            # Events of single functions stay on, but there is nobody to be told of them.
            monitoring.register_callback(tool, event, None)
    monitoring.free_tool_id(tool)


def install() -> None:
    """When the server's end of the wire is closed, let go."""
    import pydevd
    import pydevd_tracing

    from . import debugger

    begin_tracing = pydevd_tracing.SetTrace

    def begin_unless_let_go(trace: Any) -> None:
        # A thread may be in here just now. Who lets go says so first, then takes off what is on.
        begin_tracing(trace)
        if trace is not None and getattr(debugger.current(), "_holdfast_let_go", False):
            begin_tracing(None)

    pydevd_tracing.SetTrace = begin_unless_let_go
    original = pydevd.PyDB.dispose_and_kill_all_pydevd_threads

    def dispose(self: Any, *args: Any, **kwargs: Any) -> Any:
        # At a program's own end this runs in other threads, and there is nothing to save.
        if threading.current_thread() is self.reader and not self.pydb_disposed:
            _after_the_server(self)
        return original(self, *args, **kwargs)

    pydevd.PyDB.dispose_and_kill_all_pydevd_threads = dispose


def _after_the_server(db: Any) -> None:
    from _pydevd_bundle.pydevd_api import PyDevdAPI

    from . import breakpoint_rules, debugger, process_hooks

    try:
        # Unless it was let go in order, or another has come in the meantime.
        if debugger.current() is db and not getattr(db, "_holdfast_let_go", False):
            process_hooks.unwatch()
            breakpoint_rules.clear(db)
            # A thread that was held when the server went is held by nobody any more.
            PyDevdAPI().request_resume_thread("*")
            everywhere(db)
    except Exception:
        pass
