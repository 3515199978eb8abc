"""Bringing the probe into a process that somebody else started."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from . import bounded_calls, child_startup, debugger, process_hooks


def enter(port: int, debugpy_dir: str, child_port: int) -> None:
    """Called by whoever holds the process still (gdb, say): be quick, and never fail here."""
    connection = child_startup.connect(port)
    try:
        _refuse_another()
        _know_the_main_thread(debugpy_dir)
        debugger.load(debugpy_dir)
        _start_over(debugger.arm(connection))
        process_hooks.watch(connection, child_port)
    except BaseException as error:
        _tell(connection, "%s: %s" % (type(error).__name__, error))


def _refuse_another() -> None:
    db = debugger.current() if "pydevd" in sys.modules else None
    if db is None:
        return
    if not getattr(db, "_holdfast_let_go", False):
        raise RuntimeError("another debugger is in the process already")
    db.dispose_and_kill_all_pydevd_threads(wait=False)


def _know_the_main_thread(debugpy_dir: str) -> None:
    """We may be in any thread, and Python before 3.13 takes the one that imports `threading`."""
    if "threading" in sys.modules or sys.version_info >= (3, 13):
        return
    folder = os.path.join(debugpy_dir, "debugpy/_vendored/pydevd/pydevd_attach_to_process")
    sys.path.insert(0, folder)
    try:
        import attach_script

        attach_script.fix_main_thread_id()
    finally:
        sys.path.remove(folder)


def _tell(connection: Any, problem: str) -> None:
    """An answer to what the server asks first, in the form it expects."""
    answer = {"type": "response", "request_seq": 1, "command": "pydevdSystemInfo"}
    body = json.dumps(dict(answer, seq=1, success=False, message=problem)).encode()
    try:
        connection.sendall(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        connection.close()
    except OSError:
        pass


def inject() -> None:
    """Install the probe beside the debugger that is here already."""
    import pydevd

    db: Any = debugger.current()
    debugger.locate_debugpy(_debugpy_of(os.path.abspath(pydevd.__file__)))
    bounded_calls.prepare()
    debugger.install_patches()
    # The reader has kept what it calls for each request, as it was before our patch.
    db.reader.process_net_command_json = (
        db.reader.process_net_command_json.__self__.process_net_command_json
    )
    _start_over(db)
    process_hooks.watch(getattr(db, "_client_socket", None), 0)
    _keep_children_from_debugpy()


def _keep_children_from_debugpy() -> None:
    """It would have each child wait for a client of its own, and there is none."""
    from _pydev_bundle import pydev_monkey

    original = pydev_monkey._get_apply_arg_patching
    pydev_monkey._get_apply_arg_patching = lambda: (
        not process_hooks.Family.watched_now and original()
    )


def _start_over(db: Any) -> None:
    from . import breakpoint_rules

    breakpoint_rules.start_over()
    debugger.adopt(db)


def _debugpy_of(pydevd: str) -> str:
    """debugpy/_vendored/pydevd/pydevd.py is debugpy's; a pydevd by itself is its own folder."""
    folder = os.path.dirname(pydevd)
    vendored = os.path.dirname(folder)
    return os.path.dirname(vendored) if os.path.basename(vendored) == "_vendored" else folder
