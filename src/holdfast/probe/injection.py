"""Loads the probe into a process that already runs."""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from typing import Any

from . import (
    bounded_calls,
    child_policy,
    detachment,
    end_reports,
    join_ticket,
    output_capture,
    process_hooks,
    pydevd_control,
    thread_suspension,
    timings,
)
from .module_files import find_path
from .pydevd_access import current, is_detached, set_debugpy_folder
from .server_messages import use_reentrant_queue


def enter_process(
    ticket_path: str, debugpy_dir: str, child_ticket: str, had_threading: bool
) -> None:
    """Called by whoever stopped the process (gdb, say): be quick, and never raise.

    `had_threading` says whether the program had imported `threading` before we came.
    """
    connection: Any = None
    has_begun = False
    try:
        # If this fails, we come too late: nobody waits for us, or somebody else took the port.
        connection = join_ticket.connect(join_ticket.read_ticket(ticket_path))
        _end_detached_debugger()
        has_begun = True
        if not had_threading:
            _fix_main_thread(debugpy_dir)
        pydevd_control.load(debugpy_dir)
        db = pydevd_control.arm(connection)
        _reset(db)
        process_hooks.install(connection, join_ticket.read_if_given(child_ticket))
        end_reports.watch_end(db)
        output_capture.start()
    except BaseException as error:
        if has_begun:
            _leave_process()
        if connection is not None:
            _report_failure(connection, "%s: %s" % (type(error).__name__, error))


def join_server(ticket_path: str, debugpy_dir: str) -> bool:
    """Called by the program itself, which wants to be debugged: whether it is, from now on.

    It waits until the server has configured the debugger."""
    enter_process(ticket_path, debugpy_dir, "", had_threading=True)
    db = current() if "pydevd" in sys.modules else None
    if db is None or is_detached(db) or db.pydb_disposed:
        return False
    return pydevd_control.wait_until_configured(db)


def _leave_process() -> None:
    """After a failure halfway: the program runs on as if nobody had come."""
    try:
        child_policy.stop_watching()
        output_capture.stop()
        db = current()
        if db is not None:
            detachment.stop_tracing_everywhere(db)
            db._client_socket = None  # which still has to carry the reason
            db.dispose_and_kill_all_pydevd_threads(wait=False)
    except BaseException:
        pass


def _end_detached_debugger() -> None:
    """Make room for our debugger. Refuse if there is one that is in use."""
    if "pydevd" not in sys.modules:
        return
    db = current()
    if db is not None:
        if not is_detached(db):
            raise RuntimeError("another debugger is in the process already")
        _dispose(db)
    thread_suspension.forget_threads()


def _dispose(db: Any) -> None:
    from _pydevd_bundle.pydevd_constants import set_global_debugger

    db.dispose_and_kill_all_pydevd_threads(wait=False)
    # One of its own threads may be at it already, and unregisters it when it is done.
    end = time.monotonic() + timings.TIMINGS.debugger_ended
    while current() is db and time.monotonic() < end:
        time.sleep(0.005)  # pydevd has no event for that
    if current() is db:
        set_global_debugger(None)


def _fix_main_thread(debugpy_dir: str) -> None:
    """We may be in any thread, and before 3.13 the one that imports `threading` counts as main."""
    if sys.version_info >= (3, 13):
        return
    folder = os.path.join(debugpy_dir, "debugpy/_vendored/pydevd/pydevd_attach_to_process")
    sys.path.insert(0, folder)
    try:
        import attach_script

        attach_script.fix_main_thread_id()
    finally:
        sys.path.remove(folder)


def _report_failure(connection: Any, problem: str) -> None:
    """Answer the server's first request with the failure."""
    response = {"type": "response", "request_seq": 1, "command": "pydevdSystemInfo"}
    body = json.dumps(dict(response, seq=1, success=False, message=problem)).encode()
    try:
        connection.sendall(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        connection.shutdown(socket.SHUT_RDWR)  # also for a thread that still reads from it
        connection.close()
    except OSError:
        pass


def join_debugger(captures_output: bool) -> None:
    """Install the probe beside the debugger that is here already."""
    import pydevd

    db: Any = current()
    set_debugpy_folder(_debugpy_folder(find_path(pydevd)))
    bounded_calls.start_helper()
    use_reentrant_queue(db.writer)
    pydevd_control.install()
    # The reader has kept the function that it calls for each request, from before our patch.
    db.reader.process_net_command_json = (
        db.reader.process_net_command_json.__self__.process_net_command_json
    )
    _reset(db)
    thread_suspension.disarm(db, False)
    process_hooks.install(getattr(db, "_client_socket", None), None)
    end_reports.watch_end(db)
    if captures_output:
        output_capture.start()
    _keep_debugpy_from_children()


def _keep_debugpy_from_children() -> None:
    """debugpy would have each child wait for a client of its own, and there is none."""
    from _pydev_bundle import pydev_monkey

    original = pydev_monkey._get_apply_arg_patching
    policy = child_policy.ChildPolicy
    pydev_monkey._get_apply_arg_patching = lambda: not policy.is_watching and original()


def _reset(db: Any) -> None:
    pydevd_control.reset_breakpoints()
    pydevd_control.adopt(db)


def _debugpy_folder(pydevd: str) -> str:
    """debugpy/_vendored/pydevd/pydevd.py is debugpy's; a pydevd by itself is its own folder."""
    folder = os.path.dirname(pydevd)
    vendored = os.path.dirname(folder)
    return os.path.dirname(vendored) if os.path.basename(vendored) == "_vendored" else folder
