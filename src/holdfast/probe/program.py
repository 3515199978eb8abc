"""Becoming the program: argv, paths, environment and `__main__` as plain Python would have them."""

from __future__ import annotations

import io
import os
import socket
import sys
import threading
from typing import Any, Callable, Dict, List, Optional

from . import children, debugger, streams

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

    def wait(self) -> Dict[str, Any]:
        self._given.wait()
        return self.spec


ORDER = Order()


def become(socket_fd: int, debugpy_dir: str, child_port: int) -> None:
    """Arm the debugger, learn which program to be, and be it."""
    os.set_inheritable(socket_fd, False)
    connection = socket.socket(fileno=socket_fd)
    db = debugger.arm(connection, debugpy_dir, child_port)
    spec = ORDER.wait()
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
    children.watch(follow=child_port > 0, connection=connection)
    ORDER.answer({"pid": os.getpid(), "version": list(sys.version_info[:3]), "path": sys.path[:]})
    debugger.wait_until_configured(db)
    try:
        _run_like_plain_python(run)
    finally:
        debugger.leave(db)


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
    streams.prepare(spec.get("watch_input", True))
    main = _clean_main()
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
    if sys.version_info >= (3, 14):
        del main["__annotations__"]
    return main


def _script(spec: Dict[str, Any], args: List[str], main: Dict[str, Any]) -> Runner:
    from importlib.machinery import SourceFileLoader

    given = spec["script"]
    full = os.path.abspath(given)
    _set_argv(given, [given], args)
    if not getattr(sys.flags, "safe_path", False):
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
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = os.getcwd()
    return lambda: modules._run_module_as_main(name, alter_argv=True)


def _code(text: str, args: List[str], main: Dict[str, Any]) -> Runner:
    _set_argv("-c", ["-c", text], args)
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = ""
    code = compile(text, "<string>", "exec", dont_inherit=True)
    return lambda: exec(code, main)


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
        _outermost(run)
    except SystemExit:
        raise
    except BaseException as error:
        trace = error.__traceback__
        while trace is not None and debugger.is_ours(trace.tb_frame.f_code.co_filename):
            trace = trace.tb_next
        error.__traceback__ = trace
        sys.excepthook(type(error), error, trace)
        raise SystemExit(1) from None
