"""pydevd and us: arming it, patching it, and answering the server on its wire.

The server speaks plain DAP for running, stepping and pausing, and one request
of our own, `holdfast`, for all else; its answers and events travel on the same connection.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
from typing import Any, Callable, Dict, Iterator, Optional

from . import bounded_calls, detachment, pydevd_patches

HERE = os.path.dirname(os.path.abspath(__file__)) if "__file__" in globals() else "<holdfast>"
_DEBUGPY = ""

# Read by pydevd when it is imported, and gone from the environment before the program starts.
_IMPORT_SETTINGS = {
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    "PYDEVD_WARN_EVALUATION_TIMEOUT": "3600",
    "PYDEVD_WARN_SLOW_RESOLVE_TIMEOUT": "3600",
}
if sys.version_info >= (3, 12):
    # Its compiled form cannot be mended, is there only if this Python is the server's, and gains
    # little where nothing is traced.
    _IMPORT_SETTINGS["PYDEVD_USE_CYTHON"] = "NO"


def is_ours(filename: str) -> bool:
    """Is this a file of the debugger, which a user never wants to see?"""
    return filename.startswith(HERE) or (bool(_DEBUGPY) and filename.startswith(_DEBUGPY))


def canonical(filename: str) -> str:
    """The one path that stands for a file, however it was named."""
    import pydevd_file_utils

    path: str = pydevd_file_utils.canonical_normalized_path(filename)
    return path


# -- arming ---------------------------------------------------------------------------------------


def load(debugpy_dir: str) -> None:
    """Bring pydevd in, and mend it."""
    locate_debugpy(os.path.join(debugpy_dir, "debugpy"))
    again = "pydevd" in sys.modules
    pydevd = _import_pydevd(debugpy_dir)
    bounded_calls.prepare()
    if not again:  # it is when we attach to a process that we were detached from
        pydevd_patches.apply(pydevd)
    install_patches()


def arm(connection: Any) -> Any:
    """Connect pydevd to the server and start tracing; the program comes later."""
    import pydevd

    return _trace(pydevd, connection)


def arm_forked(connection: Any) -> Any:
    """In a forked child: a debugger of its own in place of its parent's, of which nothing works."""
    import pydevd
    from _pydev_bundle import pydev_monkey
    from _pydevd_bundle.pydevd_custom_frames import custom_frames_container_init

    from . import breakpoint_rules, stop_snapshots

    pydev_monkey._on_forked_process(setup_tracing=False)
    custom_frames_container_init()
    if hasattr(sys, "monitoring"):
        from _pydevd_sys_monitoring import (
            pydevd_sys_monitoring,
        )

        pydevd_sys_monitoring.reset_thread_local_info()
    else:
        from _pydevd_frame_eval.pydevd_frame_eval_main import (
            clear_thread_local_info,
        )

        if clear_thread_local_info is not None:
            clear_thread_local_info()
    breakpoint_rules.start_over()
    stop_snapshots.HANDLES = type(stop_snapshots.HANDLES)()
    return _trace(pydevd, connection)


def _trace(pydevd: Any, connection: Any) -> Any:
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
            patch_multiprocessing=False,  # `children` does this, and never lets one hang
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
    environment = dict(os.environ)
    os.environ.update(_IMPORT_SETTINGS)
    path = sys.path[:]
    sys.path.insert(0, debugpy_dir)
    bytecode = sys.dont_write_bytecode, sys.pycache_prefix
    cache = _bytecode_cache()
    sys.dont_write_bytecode, sys.pycache_prefix = False, cache
    try:
        with _whole_files_only():
            try:
                pydevd = _imported()
            except (EOFError, ValueError, TypeError):
                # What reading half a file raises, such as a machine leaves that went down.
                _forget_bytecode(cache)
                pydevd = _imported()
    finally:
        sys.path[:] = path
        sys.dont_write_bytecode, sys.pycache_prefix = bytecode
        for name in set(os.environ) - set(environment):  # pydevd leaves one of its own behind
            del os.environ[name]
        os.environ.update(environment)
    return pydevd


def _imported() -> Any:
    import debugpy.server  # noqa: F401  (this brings the vendored pydevd in)
    import pydevd
    from _pydevd_bundle import pydevd_process_net_command_json  # noqa: F401

    return pydevd


@contextlib.contextmanager
def _whole_files_only() -> Iterator[None]:
    """On a full disk older Pythons keep half a file of bytecode, and die of it ever after."""
    importing: Any = sys.modules.get("_frozen_importlib_external")
    original: Any = getattr(importing, "_write_atomic", None)

    def write(path: str, data: bytes, mode: int = 0o666) -> None:
        original(path, data, mode)
        if os.stat(path).st_size != len(data):
            os.unlink(path)

    if original is None:
        yield
        return
    importing._write_atomic = write
    try:
        yield
    finally:
        importing._write_atomic = original


def _forget_bytecode(folder: str) -> None:
    """Compile it all anew; what was imported of the debugger so far is imported again."""
    import shutil

    shutil.rmtree(folder, ignore_errors=True)
    for name, module in list(sys.modules.items()):
        if (getattr(module, "__file__", None) or "").startswith(_DEBUGPY):
            del sys.modules[name]


def _bytecode_cache() -> str:
    """Where the debugger's bytecode is kept: compiling it anew doubles what a start-up costs.

    Its own directory is the server's, holds that one Python's, and may not be writable.
    """
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(caches, "holdfast", "pycache")


def debugpy_folder() -> str:
    return _DEBUGPY


def wait_until_configured(db: Any) -> bool:
    """Wait for the server to say go; False when its connection ended instead."""
    configured = db._on_configuration_done_event
    lost = []

    def give_up() -> None:
        lost.append(True)
        configured.set()

    when_lost(db, give_up)
    configured.wait()
    return not lost


def when_lost(db: Any, act: Callable[[], None]) -> None:
    """Do this when the connection to the server has ended, or at once if it has."""
    original = db.dispose_and_kill_all_pydevd_threads

    def dispose(*args: Any, **kwargs: Any) -> Any:
        act()
        return original(*args, **kwargs)

    db.dispose_and_kill_all_pydevd_threads = dispose
    if db.pydb_disposed:
        act()


def leave(db: Any) -> None:
    """The program is over: let pydevd's own watcher see it at once, not at its next look.

    While other threads go on it must keep looking now and then, so it is left alone.
    """
    from . import breakpoint_rules

    report("hits", hits=breakpoint_rules.all_hits())
    others = [t for _, t in user_threads() if t is not threading.main_thread() and not t.daemon]
    if db.check_alive_thread is not None and not others:
        db.check_alive_thread._wait_event.set()


def current() -> Any:
    from _pydevd_bundle.pydevd_constants import get_global_debugger

    return get_global_debugger()


# -- patches --------------------------------------------------------------------------------------


def install_patches() -> None:
    """Class-level: our request, our stop events, our breakpoint rules."""
    from _pydevd_bundle.pydevd_net_command_factory_json import NetCommandFactoryJson
    from _pydevd_bundle.pydevd_process_net_command_json import PyDevJsonCommandProcessor

    from . import breakpoint_rules, stop_snapshots

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
    detachment.install()
    stop_snapshots.install(NetCommandFactoryJson)
    breakpoint_rules.install()


def adopt(db: Any) -> None:
    """Instance-level: what a new PyDB (also one made after a fork) needs from us."""
    from . import breakpoint_rules

    if not getattr(db, "_holdfast", False):
        db._holdfast = True
        breakpoint_rules.adopt(db)


# -- the wire -------------------------------------------------------------------------------------


def send(message: Dict[str, Any]) -> None:
    from _pydevd_bundle.pydevd_net_command import NetCommand

    db = current()
    if db is not None and db.writer is not None:
        with not_stepping():
            db.writer.add_command(NetCommand(0, 0, message, is_json=True))


@contextlib.contextmanager
def not_stepping() -> Iterator[None]:
    """A step of the program's must not stop in a library that our own work calls."""
    info = getattr(threading.current_thread(), "additional_info", None)
    if info is None or info.pydev_step_cmd == -1:
        yield
        return
    step = info.pydev_step_cmd, info.pydev_step_stop
    info.pydev_step_cmd, info.pydev_step_stop = -1, None
    try:
        yield
    finally:
        info.pydev_step_cmd, info.pydev_step_stop = step


def end_step() -> None:
    """The thread has left the program: a step that was under way has nowhere to go."""
    info = getattr(threading.current_thread(), "additional_info", None)
    if info is not None:
        info.pydev_step_cmd, info.pydev_step_stop = -1, None


def flush_output() -> None:
    """What the program printed before a stop, or a log message, is to be seen with it."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass


def flush(seconds: float = 5.0) -> None:
    """Wait until all that was said so far is on the wire."""
    from _pydevd_bundle.pydevd_net_command import _NullNetCommand

    db = current()
    if db is None or db.writer is None:
        return
    sent = threading.Event()
    mark = _NullNetCommand()
    mark.send = lambda _socket: sent.set()
    db.writer.add_command(mark)
    sent.wait(seconds)


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
    from . import request_handlers

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

    operation = request_handlers.TABLE.get(arguments.get("op"))
    if operation is None:
        reply(lambda: request_handlers.unknown(arguments.get("op")))
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
