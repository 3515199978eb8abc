"""Detaches the debugger: the process runs at full speed and does not stop any more.

A forked child is detached in its one thread. A program that the server detached from, or whose
server is gone, is detached in all of its threads, from the debugger's own.
"""

from __future__ import annotations

import sys
import threading
from typing import Any

from . import breakpoint_table, end_reports, exception_filters, line_monitor
from .child_policy import stop_watching
from .pydevd_access import current, is_detached, mark_detached


def stop_tracing_in_fork() -> None:
    """In a forked child, before its first line."""
    threading.settrace(None)
    if hasattr(sys, "monitoring"):
        _stop_monitoring(sys.monitoring)
        return
    import pydevd_tracing

    pydevd_tracing.restore_sys_set_trace_func()
    sys.settrace(None)


def stop_tracing_everywhere(db: Any) -> None:
    """In every thread, from any."""
    mark_detached(db)
    end_reports.stop_watching_end()
    db.enable_tracing = lambda *_args, **_options: None  # or a starting thread would do it again
    threading.settrace(None)
    if hasattr(sys, "monitoring"):
        _stop_monitoring(sys.monitoring)
        return
    import pydevd_tracing

    pydevd_tracing.restore_sys_set_trace_func()
    # A thread can be traced from outside, but only the thread itself can end its tracing.
    pydevd_tracing.set_trace_to_threads(_end_own_tracing, create_dummy_thread=False)


def _end_own_tracing(_frame: Any, _event: str, _arg: Any) -> None:
    sys.settrace(None)


def _stop_monitoring(monitoring: Any) -> None:
    line_monitor.close_monitor()
    tool = line_monitor.find_pydevd_tool(monitoring)
    if tool < 0:
        return
    monitoring.set_events(tool, 0)
    events = [getattr(monitoring.events, name) for name in dir(monitoring.events) if name.isupper()]
    for event in events:
        if event and event & (event - 1) == 0:  # a single event; some names stand for several
            # Events of single functions stay on, but nothing is called for them.
            monitoring.register_callback(tool, event, None)
    monitoring.free_tool_id(tool)


def clear_breakpoints(db: Any) -> None:
    """Remove whatever could stop the program."""
    breakpoint_table.clear(db)
    exception_filters.set_exceptions(db, [], [], False)


def install(pydevd: Any) -> None:
    """Detach when the server's end of the connection closes."""
    import pydevd_tracing

    set_trace = pydevd_tracing.SetTrace

    def set_trace_unless_detached(trace: Any) -> None:
        # Another thread may be in here just now: it marks first, then ends what is traced.
        set_trace(trace)
        if trace is not None and is_detached(current()):
            set_trace(None)

    pydevd_tracing.SetTrace = set_trace_unless_detached
    original = pydevd.PyDB.dispose_and_kill_all_pydevd_threads

    def dispose(self: Any, *args: Any, **kwargs: Any) -> Any:
        # At the program's own end this runs in other threads, and there is nothing to save.
        if threading.current_thread() is self.reader and not self.pydb_disposed:
            _detach_from_lost_server(self)
        return original(self, *args, **kwargs)

    pydevd.PyDB.dispose_and_kill_all_pydevd_threads = dispose


def _detach_from_lost_server(db: Any) -> None:
    from _pydevd_bundle.pydevd_api import PyDevdAPI

    try:
        # Unless it was detached in order, or another debugger has come meanwhile.
        if current() is db and not is_detached(db):
            stop_watching()
            clear_breakpoints(db)
            # The server is gone, so nobody can resume a suspended thread.
            PyDevdAPI().request_resume_thread("*")
            stop_tracing_everywhere(db)
    except Exception:
        pass
