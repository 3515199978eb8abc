"""Everything that touches pydevd: arming it, mending it, and answering the server on its wire.

The mends are small and each is guarded: `MENDS` records which took, and the unmended way still
works (slower). The server speaks plain DAP for running, stepping and pausing, and one request
of our own, `holdfast`, for all else; its answers and events travel on the same connection.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from typing import Any, Callable, Dict, Optional

from . import bounded

HERE = os.path.dirname(os.path.abspath(__file__)) if "__file__" in globals() else "<holdfast>"
_DEBUGPY = ""
MENDS: Dict[str, bool] = {}

# Read by pydevd when it is imported, and gone from the environment before the program starts.
_IMPORT_SETTINGS = {
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    "PYDEVD_WARN_EVALUATION_TIMEOUT": "3600",
    "PYDEVD_WARN_SLOW_RESOLVE_TIMEOUT": "3600",
}


def is_ours(filename: str) -> bool:
    """Is this a file of the debugger, which a user never wants to see?"""
    return filename.startswith(HERE) or (bool(_DEBUGPY) and filename.startswith(_DEBUGPY))


# -- arming ---------------------------------------------------------------------------------------


def arm(connection: Any, debugpy_dir: str, child_port: int) -> Any:
    """Connect pydevd to the server and start tracing; the program comes later."""
    locate_debugpy(os.path.join(debugpy_dir, "debugpy"))
    pydevd = _import_pydevd(debugpy_dir)
    bounded.prepare()
    _mend("quick_start", _without_start_up_sleep, pydevd)
    _mend("quick_exit", _quick_exit, pydevd)

    def connect(self: Any, _host: str, _port: int) -> None:
        self._client_socket = connection
        self.initialize_network(connection)

    original = pydevd.PyDB.connect
    pydevd.PyDB.connect = connect
    try:
        install_patches()
        pydevd.settrace(
            host="127.0.0.1",
            port=child_port,
            suspend=False,
            patch_multiprocessing=child_port > 0,
            notify_stdin=False,
            wait_for_ready_to_run=False,
            dont_trace_start_patterns=(_DEBUGPY, HERE),
            dont_trace_end_patterns=(),
        )
    finally:
        pydevd.PyDB.connect = original
    db = pydevd.get_global_debugger()
    adopt(db)
    return db


def locate_debugpy(folder: str) -> None:
    global _DEBUGPY
    _DEBUGPY = folder


def _import_pydevd(debugpy_dir: str) -> Any:
    """Import debugpy from the server's installation, leaving path and environment as they were."""
    before = {name: os.environ.get(name) for name in _IMPORT_SETTINGS}
    os.environ.update(_IMPORT_SETTINGS)
    path = sys.path[:]
    sys.path.insert(0, debugpy_dir)
    try:
        import debugpy.server  # noqa: F401  (this brings the vendored pydevd in)
        import pydevd
        from _pydevd_bundle import pydevd_process_net_command_json  # noqa: F401
    finally:
        sys.path[:] = path
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
    return pydevd


def wait_until_configured(db: Any) -> None:
    db._on_configuration_done_event.wait()


def leave(db: Any) -> None:
    """The program is over: let pydevd's own watcher see it at once, not at its next look.

    While other threads go on it must keep looking now and then, so it is left alone.
    """
    others = [t for _, t in user_threads() if t is not threading.main_thread() and not t.daemon]
    if db.check_alive_thread is not None and not others:
        db.check_alive_thread._wait_event.set()


def current() -> Any:
    from _pydevd_bundle.pydevd_constants import get_global_debugger

    return get_global_debugger()


# -- mends ----------------------------------------------------------------------------------------


def _mend(name: str, mend: Callable[[Any], None], *args: Any) -> None:
    try:
        mend(*args)
        MENDS[name] = True
    except Exception:
        MENDS[name] = False


def _without_start_up_sleep(pydevd: Any) -> None:
    """`initialize_network` sleeps 0.1 s "to give threads time to start"; nothing needs it."""
    original = pydevd.PyDB.initialize_network

    class Time:
        def __getattr__(self, name: str) -> Any:
            return (lambda _seconds: None) if name == "sleep" else getattr(real, name)

    real = pydevd.time

    def initialize_network(self: Any, sock: Any, terminate_on_socket_close: bool = True) -> Any:
        pydevd.time = Time()
        try:
            return original(self, sock, terminate_on_socket_close)
        finally:
            pydevd.time = real

    pydevd.PyDB.initialize_network = initialize_network


def _quick_exit(pydevd: Any) -> None:
    """pydevd polls ten times a second for its threads to end, up to half a second, twice.

    Only the writer matters: what it holds must reach the server. The reader stays blocked in
    its socket until the process ends, so waiting for it is always in vain.
    """
    import time

    name = "_PyDB__wait_for_threads_to_finish"
    getattr(pydevd.PyDB, name)

    def wait(self: Any, timeout: float) -> None:
        writer = self.writer
        end = time.monotonic() + timeout
        while writer is not None and writer.is_alive() and time.monotonic() < end:
            time.sleep(0.001)

    setattr(pydevd.PyDB, name, wait)


def install_patches() -> None:
    """Class-level: our request, our stop events, our breakpoint rules."""
    from _pydevd_bundle.pydevd_net_command_factory_json import NetCommandFactoryJson
    from _pydevd_bundle.pydevd_process_net_command_json import PyDevJsonCommandProcessor

    from . import rules, stops

    if getattr(PyDevJsonCommandProcessor, "_holdfast", False):
        return
    PyDevJsonCommandProcessor._holdfast = True
    original = PyDevJsonCommandProcessor.process_net_command_json

    def process(self: Any, db: Any, contents: Any, *args: Any, **kwargs: Any) -> Any:
        text = contents.decode("utf-8") if isinstance(contents, bytes) else contents
        if '"holdfast"' in text:
            request = json.loads(text)
            if request.get("command") == "holdfast":
                return _answer(db, request)
        return original(self, db, contents, *args, **kwargs)

    PyDevJsonCommandProcessor.process_net_command_json = process
    stops.install(NetCommandFactoryJson)
    rules.install()


def adopt(db: Any) -> None:
    """Instance-level: what a new PyDB (also one made after a fork) needs from us."""
    from . import rules

    if not getattr(db, "_holdfast", False):
        db._holdfast = True
        rules.adopt(db)


# -- the wire -------------------------------------------------------------------------------------


def send(message: Dict[str, Any]) -> None:
    from _pydevd_bundle.pydevd_net_command import NetCommand

    db = current()
    if db is not None and db.writer is not None:
        db.writer.add_command(NetCommand(0, 0, message, is_json=True))


def report(kind: str, **body: Any) -> None:
    """Tell the server something it did not ask for."""
    send({"type": "event", "event": "holdfast", "body": dict(body, kind=kind)})


def _respond(request: Dict[str, Any], body: Any, problem: Optional[str] = None) -> None:
    message = {
        "type": "response",
        "request_seq": request["seq"],
        "command": "holdfast",
        "success": problem is None,
        "body": body,
    }
    if problem is not None:
        message["message"] = problem
    send(message)


class Problem(Exception):
    """An operation that cannot be done, in words for the user; `kind` picks the error."""

    def __init__(self, kind: str, message: str, **details: Any) -> None:
        super().__init__(message)
        self.kind = kind
        self.details = details


def _answer(db: Any, request: Dict[str, Any]) -> None:
    """Runs in pydevd's reader thread, so it must be quick or hand over."""
    from . import operations

    arguments = request.get("arguments") or {}

    def reply(run: Callable[[], Any]) -> None:
        try:
            _respond(request, run())
        except Problem as problem:
            body = {"kind": problem.kind, "details": problem.details}
            _respond(request, body, str(problem))
        except BaseException as error:  # a request must never end the debugger's reader
            body = {"kind": "internal", "details": {}}
            _respond(request, body, "%s: %s" % (type(error).__name__, error))

    operation = operations.TABLE.get(arguments.get("op"))
    if operation is None:
        reply(lambda: operations.unknown(arguments.get("op")))
        return
    operation(db, arguments, reply)


# -- threads --------------------------------------------------------------------------------------


def dap_id(thread_id: str) -> int:
    from _pydevd_bundle._debug_adapter.pydevd_base_schema import BaseSchema

    number: int = BaseSchema._translate_id_to_dap(thread_id)
    return number


def thread_id_of(number: int) -> str:
    from _pydevd_bundle._debug_adapter.pydevd_base_schema import BaseSchema

    try:
        name: str = BaseSchema._translate_id_from_dap(number)
    except KeyError:
        raise Problem("thread", "no thread %r" % (number,)) from None
    return name


def user_threads() -> Any:
    """(pydevd id, threading.Thread) of each thread that is the program's own."""
    from _pydevd_bundle.pydevd_constants import get_thread_id

    for thread in threading.enumerate():
        if not getattr(thread, "is_pydev_daemon_thread", False) and thread.is_alive():
            yield get_thread_id(thread), thread


def in_thread(db: Any, thread_id: str, run: Callable[[], None]) -> None:
    """Run it in a suspended thread, which is where its expressions belong.

    pydevd clears a thread's wake-up after each command, losing the one for a command queued
    meanwhile (a stall of 200 ms); setting it again when something is left mends that.
    """

    def command(*_args: Any, **_kwargs: Any) -> None:
        try:
            run()
        finally:
            queue, event = db.get_internal_queue_and_event(thread_id)
            if not queue.empty():
                event.set()

    db.post_method_as_internal_command(thread_id, command)
