"""Detaches the debugger: the process runs at full speed and does not stop any more.

A forked child is detached in its one thread. A program that the server detached from, or whose
server is gone, is detached in all of its threads, from the debugger's own.
"""

from __future__ import annotations

import sys
import threading
from typing import Any

from . import (
    breakpoint_table,
    end_reports,
    exception_filters,
    frame_tracer,
    line_monitor,
    output_capture,
    thread_suspension,
    watch_table,
)
from .child_policy import stop_watching
from .pydevd_access import current, is_detached, mark_detached


def stop_tracing_in_fork() -> None:
    """In a forked child, before its first line."""
    thread_suspension.reset_lock()
    output_capture.stop()
    watch_table.WATCHES.reset()
    threading.settrace(None)
    if hasattr(sys, "monitoring"):
        _stop_monitoring(sys.monitoring)
        return
    import pydevd_tracing

    frame_tracer.reset()
    pydevd_tracing.restore_sys_set_trace_func()
    sys.settrace(None)


def stop_tracing_everywhere(db: Any) -> None:
    """In every thread, from any. When this returns, no thread is in the debugger any more."""
    mark_detached(db)
    end_reports.stop_watching_end()
    db.enable_tracing = lambda *_args, **_options: None  # or a starting thread would do it again
    threading.settrace(None)
    watch_table.WATCHES.clear()
    if hasattr(sys, "monitoring"):
        _silence_monitoring(sys.monitoring)
        thread_suspension.release_threads(db)
        thread_suspension.wait_until_left()
        _stop_monitoring(sys.monitoring)
        return
    import pydevd_tracing

    frame_tracer.TRACING.stop()
    pydevd_tracing.restore_sys_set_trace_func()
    # A thread can be traced from outside, but only the thread itself can end its tracing.
    pydevd_tracing.set_trace_to_threads(_end_own_tracing, create_dummy_thread=False)
    thread_suspension.release_threads(db)
    thread_suspension.wait_until_left()
    _clear_traced_frames()


def _end_own_tracing(_frame: Any, _event: str, _arg: Any) -> None:
    sys.settrace(None)


def _clear_traced_frames() -> None:
    """Frames that run now keep their trace functions, which the next debugger would call."""
    for top in list(sys._current_frames().values()):
        frame: Any = top
        while frame is not None:
            if frame.f_trace is not None:
                frame.f_trace = None
            frame = frame.f_back


def _silence_monitoring(monitoring: Any) -> None:
    """Let no thread enter pydevd or our monitor any more; those inside may still use the tools."""
    line_monitor.silence_monitor()
    tool = line_monitor.find_pydevd_tool(monitoring)
    if tool >= 0:
        line_monitor.remove_callbacks(monitoring, tool)


def _stop_monitoring(monitoring: Any) -> None:
    watch_table.close()
    line_monitor.close_monitor()
    tool = line_monitor.find_pydevd_tool(monitoring)
    if tool < 0:
        return
    line_monitor.remove_callbacks(monitoring, tool)
    from _pydevd_sys_monitoring import pydevd_sys_monitoring

    module: Any = sys.modules[pydevd_sys_monitoring.restart_events.__module__]
    known = getattr(module, "_code_to_func_code_info_cache", {})  # with breakpoints of this one
    for code in list(known):
        monitoring.set_local_events(tool, code, 0)
    known.clear()
    monitoring.free_tool_id(tool)


def clear_breakpoints(db: Any) -> None:
    """Remove whatever could stop the program."""
    breakpoint_table.clear(db)
    watch_table.WATCHES.clear()
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
    if hasattr(sys, "monitoring"):
        _keep_monitoring_stopped()
    original = pydevd.PyDB.dispose_and_kill_all_pydevd_threads

    def dispose(self: Any, *args: Any, **kwargs: Any) -> Any:
        # At the program's own end this runs in other threads, and there is nothing to save.
        if threading.current_thread() is self.reader and not self.pydb_disposed:
            _detach_from_lost_server(self)
        return original(self, *args, **kwargs)

    pydevd.PyDB.dispose_and_kill_all_pydevd_threads = dispose


def _keep_monitoring_stopped() -> None:
    """A thread that is still in pydevd when it is detached would start its monitoring again."""
    from _pydevd_sys_monitoring import pydevd_sys_monitoring

    update = pydevd_sys_monitoring.update_monitor_events
    module: Any = sys.modules[update.__module__]

    def update_unless_detached(suspend_requested: Any = None) -> None:
        if not is_detached(current()):
            update(suspend_requested)

    module.update_monitor_events = update_unless_detached
    pydevd_sys_monitoring.update_monitor_events = update_unless_detached


def _detach_from_lost_server(db: Any) -> None:
    try:
        # Unless it was detached in order, or another debugger has come meanwhile.
        if current() is db and not is_detached(db):
            stop_watching()
            thread_suspension.disarm(db)
            output_capture.stop()
            clear_breakpoints(db)
            stop_tracing_everywhere(db)  # which resumes all threads: nobody else could
    except Exception:
        pass
