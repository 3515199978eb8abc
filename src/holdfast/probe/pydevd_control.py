"""The debugger in this process: loading pydevd, patching it, connecting it, disconnecting it.

The server speaks plain DAP for running, stepping and pausing, and one request of our own,
`holdfast`, for everything else (`request_handlers`). Both travel on pydevd's own connection.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from typing import Any, Callable

from . import (
    bounded_calls,
    breakpoint_calls,
    breakpoint_table,
    detachment,
    end_reports,
    evaluation,
    exception_filters,
    frame_tracer,
    gevent_support,
    missed_breakpoints,
    module_files,
    pydevd_patches,
    request_handlers,
    stop_snapshots,
    thread_suspension,
    tracing_watch,
)
from .pydevd_access import HERE, debugpy_folder, set_debugpy_folder, user_threads
from .pydevd_loader import import_pydevd
from .watch_table import WATCHES

# -- arming ---------------------------------------------------------------------------------------


def load(debugpy_dir: str, *, with_gevent: bool = False) -> None:
    """Import pydevd and patch it. `with_gevent`: for a program that uses gevent."""
    set_debugpy_folder(os.path.join(debugpy_dir, "debugpy"))
    was_loaded = "pydevd" in sys.modules  # when we attach again to a process that we left
    pydevd = import_pydevd(debugpy_dir, with_gevent=with_gevent)
    if pydevd.SUPPORT_GEVENT:
        gevent_support.use_private_modules()
    bounded_calls.start_helper()
    if not was_loaded:
        pydevd_patches.apply_all(pydevd)
    install()
    if not was_loaded:
        pydevd_patches.apply_one(frame_tracer.trace_little, pydevd)


def arm(connection: Any) -> Any:
    """Connect pydevd to the server and start tracing; the program comes later."""
    import pydevd

    def connect(self: Any, _host: str, _port: int) -> None:
        self._client_socket = connection
        self.initialize_network(connection)

    original = pydevd.PyDB.connect
    pydevd.PyDB.connect = connect
    try:
        pydevd.settrace(
            host="127.0.0.1",
            port=0,
            suspend=False,
            patch_multiprocessing=False,  # `process_hooks` does this, and never lets a child hang
            notify_stdin=False,
            wait_for_ready_to_run=False,
            dont_trace_start_patterns=(debugpy_folder(), HERE),
            dont_trace_end_patterns=(),
        )
        db = pydevd.get_global_debugger()
        adopt(db)
        tracing_watch.install()
        module_files.hide_from_coverage()
    finally:
        pydevd.PyDB.connect = original
        connection.let_read()
    return db


def arm_forked(connection: Any) -> Any:
    """In a forked child: replace the parent's debugger, whose threads do not exist here."""
    from _pydev_bundle import pydev_monkey
    from _pydevd_bundle.pydevd_custom_frames import custom_frames_container_init

    pydev_monkey._on_forked_process(setup_tracing=False)
    custom_frames_container_init()
    if hasattr(sys, "monitoring"):
        from _pydevd_sys_monitoring import pydevd_sys_monitoring

        pydevd_sys_monitoring.reset_thread_local_info()
    else:
        from _pydevd_frame_eval.pydevd_frame_eval_main import clear_thread_local_info

        if clear_thread_local_info is not None:
            clear_thread_local_info()
    reset_breakpoints()
    stop_snapshots.reset_references()
    evaluation.EVALUATIONS.reset()
    return arm(connection)


def reset_breakpoints() -> None:
    """Start with no breakpoints and no counts."""
    WATCHES.reset()
    breakpoint_table.reset()
    exception_filters.reset()


def wait_until_configured(db: Any) -> bool:
    """Wait for the server's `configurationDone`; False when the connection ended instead."""
    configured = db._on_configuration_done_event
    lost = []

    def give_up() -> None:
        lost.append(True)
        configured.set()

    on_connection_lost(db, give_up)
    configured.wait()
    frame_tracer.trace_program(db)
    return not lost


def on_connection_lost(db: Any, act: Callable[[], None]) -> None:
    """Call `act` when the connection to the server has ended, or now if it has already."""
    original = db.dispose_and_kill_all_pydevd_threads

    def dispose(*args: Any, **kwargs: Any) -> Any:
        act()
        return original(*args, **kwargs)

    db.dispose_and_kill_all_pydevd_threads = dispose
    if db.pydb_disposed:
        act()


def end_program(db: Any) -> None:
    """The program is over: have pydevd's watcher thread notice now, not at its next check.

    While other threads go on, the watcher must keep checking, so it is left alone.
    """
    end_reports.report_counts()
    others = [t for _, t in user_threads() if t is not threading.main_thread() and not t.daemon]
    if others:
        end_reports.report_counts_at_end(db)  # again, with what they did meanwhile
    if db.check_alive_thread is not None and not others:
        db.check_alive_thread._wait_event.set()


# -- patches --------------------------------------------------------------------------------------


def install() -> None:
    """Patch pydevd's classes, once in a process: our request, our stops, our breakpoints."""
    import pydevd
    from _pydevd_bundle.pydevd_net_command_factory_json import NetCommandFactoryJson
    from _pydevd_bundle.pydevd_process_net_command_json import PyDevJsonCommandProcessor

    if getattr(PyDevJsonCommandProcessor, "_holdfast", False):
        return
    PyDevJsonCommandProcessor._holdfast = True
    original = PyDevJsonCommandProcessor.process_net_command_json

    def process(self: Any, db: Any, contents: Any, *args: Any, **kwargs: Any) -> Any:
        text = contents.decode("utf-8") if isinstance(contents, bytes) else contents
        if '"holdfast"' in text:
            request = json.loads(text)
            if request.get("command") == "holdfast":
                return request_handlers.handle(db, request)
        return original(self, db, contents, *args, **kwargs)

    PyDevJsonCommandProcessor.process_net_command_json = process
    detachment.install(pydevd)
    stop_snapshots.install(NetCommandFactoryJson)
    breakpoint_table.install(pydevd)
    exception_filters.install(pydevd)
    thread_suspension.install(pydevd)  # before the next, which suspends and waits through it
    missed_breakpoints.install(pydevd)
    breakpoint_calls.install(pydevd)


def adopt(db: Any) -> None:
    """Patch one PyDB, also one that was made after a fork."""
    if not getattr(db, "_holdfast", False):
        db._holdfast = True
        exception_filters.adopt(db)
        frame_tracer.adopt(db)
