"""Becoming the program: argv, paths, environment and `__main__` as plain Python would have them."""

from __future__ import annotations

import io
import os
import socket
import sys
import threading
from importlib.machinery import BuiltinImporter, SourceFileLoader
from typing import Any, Callable, Dict, List, Optional

from . import breakpoint_rules, child_startup, debugger, process_hooks, standard_streams

Runner = Callable[[], Any]

_MAIN_NAMES = {"__name__", "__builtins__", "__doc__", "__package__", "__loader__", "__spec__"}


class Order:
    """The program to run, as the server sends it: given once, waited for by the main thread."""

    def __init__(self) -> None:
        self._given = threading.Event()
        self.spec: Dict[str, Any] = {}
        self.answer: Any = None

    def give(self, spec: Dict[str, Any], answer: Any) -> None:
        self.spec, self.answer = spec, answer
        self._given.set()

    def give_up(self) -> None:
        """There is nobody any more who could send it."""
        self._given.set()

    def wait(self) -> Dict[str, Any]:
        """The program; nothing when none will come."""
        self._given.wait()
        return self.spec


ORDER = Order()


def become(socket_fd: int, debugpy_dir: str, child_port: int) -> None:
    """Arm the debugger, learn which program to be, and be it."""
    connection = socket.socket(fileno=_out_of_the_way(socket_fd))
    debugger.load(debugpy_dir)
    db = debugger.arm(connection)
    debugger.when_lost(db, ORDER.give_up)
    spec = ORDER.wait()
    if not spec:
        return
    try:
        run = _prepare(spec)
    except SyntaxError as error:
        ORDER.answer({"syntax_error": _syntax_problem(error)})
        debugger.leave(db)
        return
    except Exception as error:
        ORDER.answer({"failed": "%s: %s" % (type(error).__name__, error)})
        debugger.leave(db)
        return
    process_hooks.watch(connection, child_port)
    ORDER.answer({"pid": os.getpid(), "version": list(sys.version_info[:3]), "path": sys.path[:]})
    if debugger.wait_until_configured(db):
        debugger.flush()  # or a program that ends itself at once would seem never to have begun
        _be(run)


def join(port: int, debugpy_dir: str, arguments: List[str]) -> None:
    """Be a child of a program that is debugged: `python ARGUMENTS`, with a debugger if may be."""
    run = None
    try:
        debugger.load(debugpy_dir)
        run = _prepare_child(arguments)
        connection = child_startup.connect(port)
        db = debugger.arm(connection)
        process_hooks.watch(connection, port)
        configured = debugger.wait_until_configured(db)
    except Exception:
        configured = False
    if run is None or not configured:
        child_startup.become_plain(arguments)
        return
    _be(run)


def _prepare_child(arguments: List[str]) -> Optional[Runner]:
    """As `_prepare`, but everything around the program is as its parent made it."""
    spec = child_startup.parse(arguments)
    if spec is None:
        return None
    run = _runner(spec, _clean_main())
    if hasattr(sys, "orig_argv"):
        sys.orig_argv[:] = [sys.executable] + arguments
    return run


def _be(run: Runner) -> None:
    try:
        _run_like_plain_python(run)
    finally:
        db = debugger.current()
        if db is not None:  # there is none in a forked child that came out here
            debugger.leave(db)


def _out_of_the_way(fd: int) -> int:
    """Programs that become daemons close the first descriptors, or put others in their place."""
    import fcntl
    import resource

    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    high = 4000 if most == resource.RLIM_INFINITY else max(fd, min(4000, most - 8))
    try:
        moved = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, high)
    except OSError:
        os.set_inheritable(fd, False)
        return fd
    os.close(fd)
    return moved


def _syntax_problem(error: SyntaxError) -> Dict[str, Any]:
    return {
        "file": error.filename,
        "line": error.lineno,
        "offset": error.offset,
        "message": error.msg,
        "text": (error.text or "").rstrip("\n"),
    }


def _prepare(spec: Dict[str, Any]) -> Runner:
    """Set up the process as the program expects it; return what runs it."""
    environment: Dict[str, Optional[str]] = spec.get("env") or {}
    for name, value in environment.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    os.chdir(spec["cwd"])
    standard_streams.prepare()
    return _runner(spec, _clean_main())


def _runner(spec: Dict[str, Any], main: Dict[str, Any]) -> Runner:
    args = list(spec.get("args") or [])
    if "script" in spec:
        return _script(spec, args, main)
    if "module" in spec:
        return _module(spec["module"], args)
    return _code(spec["code"], args, main)


def _clean_main() -> Dict[str, Any]:
    """Leave in `__main__` only what a fresh interpreter has there."""
    main = sys.modules["__main__"].__dict__
    for name in [name for name in main if name not in _MAIN_NAMES]:
        del main[name]
    main.update({"__doc__": None, "__package__": None, "__spec__": None, "__annotations__": {}})
    main["__loader__"] = BuiltinImporter
    if sys.version_info >= (3, 14):
        del main["__annotations__"]
    return main


def _script(spec: Dict[str, Any], args: List[str], main: Dict[str, Any]) -> Runner:
    given, full = spec.get("given", spec["script"]), os.path.abspath(spec["script"])
    _set_argv(given, [given], args)
    if not _safe_path():
        sys.path[0] = os.path.dirname(os.path.realpath(full))
    with io.open_code(full) as file:
        source = file.read()
    code = compile(source, full, "exec", dont_inherit=True)
    main.update({"__file__": full, "__cached__": None})
    main["__loader__"] = SourceFileLoader("__main__", full)
    return lambda: exec(code, main)


def _module(name: str, args: List[str]) -> Runner:
    from _pydevd_bundle import pydevd_runpy as modules

    _set_argv("-m", ["-m", name], args)
    if not _safe_path():
        sys.path[0] = os.getcwd()
    return lambda: modules._run_module_as_main(name, alter_argv=True)


def _code(text: str, args: List[str], main: Dict[str, Any]) -> Runner:
    _set_argv("-c", ["-c", text], args)
    if not _safe_path():
        sys.path[0] = ""
    code = compile(text, "<string>", "exec", dont_inherit=True)
    return lambda: exec(code, main)


def _safe_path() -> bool:
    """Started with `-P` or `-I`: then the program's folder is not on the path, nor was ours."""
    return bool(getattr(sys.flags, "safe_path", False) or sys.flags.isolated)


def _set_argv(name: str, command: List[str], args: List[str]) -> None:
    sys.argv[:] = [name] + args
    if hasattr(sys, "orig_argv"):
        sys.orig_argv[:] = [sys.executable] + command + args


def _outermost(run: Runner) -> None:
    """Run it where pydevd looks for a program's outermost frame, to see what nothing catches.

    That is above a function `_exec` of a file called `pydevd`.
    """
    names: Dict[str, Any] = {}
    source = "def _exec(run):\n    run()\n"
    exec(compile(source, os.path.join(debugger.HERE, "pydevd.py"), "exec"), names)
    names["_exec"](run)


def _run_like_plain_python(run: Runner) -> None:
    """Run it; let an uncaught exception print what plain Python prints, and no frame of ours."""
    try:
        try:
            _outermost(run)
        finally:
            debugger.end_step()
    except SystemExit:
        raise
    except BaseException as error:
        trace = error.__traceback__
        while trace is not None and debugger.is_ours(trace.tb_frame.f_code.co_filename):
            trace = trace.tb_next
        error.__traceback__ = trace
        breakpoint_rules.stop_at_crash(error, trace)
        with breakpoint_rules.printing():
            sys.excepthook(type(error), error, trace)
        if isinstance(error, KeyboardInterrupt):
            _die_interrupted()
        raise SystemExit(1) from None


def _die_interrupted() -> None:
    """Plain Python ends by the signal itself: raised to the top, with nothing left to print."""
    hook = sys.excepthook

    def silent(*_exception: Any) -> None:
        sys.excepthook = hook

    sys.excepthook = silent
    raise KeyboardInterrupt from None
