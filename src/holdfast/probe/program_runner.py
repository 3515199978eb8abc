"""Runs the program with argv, paths, environment and `__main__` as plain Python sets them."""

from __future__ import annotations

import atexit
import importlib.util
import io
import itertools
import os
import sys
import threading
from importlib.machinery import BuiltinImporter, SourceFileLoader
from pkgutil import get_importer
from typing import Any, Callable, Dict, List, Optional, Sequence

from . import (
    child_startup,
    end_reports,
    exception_filters,
    failing_tests,
    gevent_support,
    join_ticket,
    process_hooks,
    pydevd_control,
    run_experiment,
    standard_streams,
    timings,
)
from .program_order import ORDER
from .pydevd_access import HERE, current, end_step, is_ours
from .server_connection import ServerConnection
from .server_messages import flush, report
from .traces import trace_start

Runner = Callable[[], Any]

_MAIN_NAMES = {"__name__", "__builtins__", "__doc__", "__package__", "__loader__", "__spec__"}


class _ModuleMissing(Exception):
    """There is no such module to run."""


def run_program(
    socket_fd: int,
    debugpy_dir: str,
    child_ticket: str,
    with_gevent: bool,
    terminal_fds: Sequence[str] = (),
) -> None:
    """Arm the debugger, wait for the program that the server sends, and run it.

    `with_gevent`: an interpreter that was armed before found that its program needs this.
    `terminal_fds`: the server's end of the program's terminal, if it has one.
    """
    if terminal_fds:
        standard_streams.take_terminal(_move_descriptor(int(terminal_fds[0])))
    connection = ServerConnection(_move_descriptor(socket_fd))
    pydevd_control.load(debugpy_dir, with_gevent=with_gevent)
    db = pydevd_control.arm(connection)
    pydevd_control.on_connection_lost(db, ORDER.cancel)
    spec = ORDER.wait()
    if not spec:
        return
    with exception_filters.silenced():  # what our own code raises is not the program's
        run = _prepare_to_run(spec, with_gevent)
        if run is None:
            pydevd_control.end_program(db)
            return
        process_hooks.install(connection, join_ticket.read_if_given(child_ticket))
        facts = {"pid": os.getpid(), "version": list(sys.version_info[:3]), "path": sys.path[:]}
        ORDER.answer(facts)
        if not pydevd_control.wait_until_configured(db):
            return
        # Or a program that exits at once would seem never to have started.
        flush(timings.TIMINGS.start_told)
    _run_to_end(run)


def _prepare_to_run(spec: Dict[str, Any], with_gevent: bool) -> Optional[Runner]:
    """The function that runs the program; None if the server was told why there is none."""
    try:
        with exception_filters.silenced():
            run = _prepare_process(spec)
    except SyntaxError as error:
        ORDER.answer({"syntax_error": _describe_syntax_error(error)})
        return None
    except _ModuleMissing as error:
        ORDER.answer({"missing_module": str(error)})
        return None
    except Exception as error:
        ORDER.answer({"failed": "%s: %s" % (type(error).__name__, error)})
        return None
    if not with_gevent and gevent_support.is_needed(spec):
        ORDER.answer({"needs_gevent": True})
        return None
    return run


def run_child(ticket_path: str, debugpy_dir: str, arguments: List[str]) -> None:
    """Run `python ARGUMENTS`, a child of a debugged program, with a debugger if possible."""
    run = None
    try:
        ticket = join_ticket.read_ticket(ticket_path)
        spec = child_startup.parse_python_arguments(arguments)
        pydevd_control.load(debugpy_dir, with_gevent=_needs_gevent(spec))
        run = _prepare_child(spec, arguments)
        connection = join_ticket.connect(ticket)
        db = pydevd_control.arm(connection)
        with exception_filters.silenced():
            process_hooks.install(connection, ticket)
            configured = pydevd_control.wait_until_configured(db)
    except Exception:
        configured = False
    if run is None or not configured:
        child_startup.exec_plain_python(arguments)
        return
    _run_to_end(run)


def _needs_gevent(spec: Optional[Dict[str, Any]]) -> bool:
    """Whether a child uses gevent, whose folder is not on the path yet."""
    if spec is None:
        return False
    path = sys.path[:]
    script = os.path.abspath(spec.get("script", "."))
    sys.path[0] = script if os.path.isdir(script) else os.path.dirname(script)
    try:
        return gevent_support.is_needed(spec)
    finally:
        sys.path[:] = path


def _prepare_child(spec: Optional[Dict[str, Any]], arguments: List[str]) -> Optional[Runner]:
    """As `_prepare_process`, but everything around the program is as its parent made it."""
    if spec is None:
        return None
    run = _find_runner(spec, _reset_main())
    if hasattr(sys, "orig_argv"):
        sys.orig_argv[:] = [sys.executable] + arguments
    return run


def _run_to_end(run: Runner) -> None:
    _restart_thread_names()
    try:
        _run_like_plain_python(run)
    finally:
        db = current()
        if db is not None:  # there is none in a forked child that returns to here
            pydevd_control.end_program(db)


def _restart_thread_names() -> None:
    """The program's first thread is `Thread-1`, though the debugger's were made before it."""
    if hasattr(threading, "_counter"):
        threading._counter = itertools.count(1).__next__


def _move_descriptor(fd: int) -> int:
    """Move it out of reach: a program that daemonizes closes or replaces the first descriptors."""
    import fcntl
    import resource

    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    high = 4000 if limit == resource.RLIM_INFINITY else max(fd, min(4000, limit - 8))
    try:
        moved = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, high)
    except OSError:
        os.set_inheritable(fd, False)
        return fd
    os.close(fd)
    return moved


def _describe_syntax_error(error: SyntaxError) -> Dict[str, Any]:
    return {
        "file": error.filename,
        "line": error.lineno,
        "offset": error.offset,
        "message": error.msg,
        "text": (error.text or "").rstrip("\n"),
    }


def _prepare_process(spec: Dict[str, Any]) -> Runner:
    """Set up the process for the program; returns the function that runs it."""
    environment: Dict[str, Optional[str]] = spec.get("env") or {}
    for name, value in environment.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    os.chdir(spec["cwd"])
    standard_streams.install()
    if spec.get("trace"):
        _begin_trace(spec["trace"])
    run = _find_runner(spec, _reset_main())
    experiment = spec.get("experiment")
    if experiment is not None:
        _prepare_experiment(spec, experiment)
    return run


def _begin_trace(spec: Dict[str, Any]) -> None:
    trace_start.ON_PICKED_END = lambda: report("traced")
    trace_start.begin(spec)
    process_hooks.BEFORE_END.append(trace_start.end)
    atexit.register(trace_start.end)  # before the program's own, so that it is called after them


def _prepare_experiment(spec: Dict[str, Any], experiment: Dict[str, Any]) -> None:
    module = spec.get("module", "").partition(".")[0]
    if module and importlib.util.find_spec(module) is None:
        raise _ModuleMissing(module)
    run_experiment.begin(experiment)
    failing_tests.install()


def _find_runner(spec: Dict[str, Any], main: Dict[str, Any]) -> Runner:
    args = list(spec.get("args") or [])
    flags = [str(flag) for flag in spec.get("python_args") or []]
    if "script" in spec:
        return _script_runner(spec, flags, args, main)
    if "module" in spec:
        return _module_runner(spec["module"], flags, args)
    return _code_runner(spec["code"], flags, args, main)


def _reset_main() -> Dict[str, Any]:
    """Leave in `__main__` only what a fresh interpreter has there."""
    main = sys.modules["__main__"].__dict__
    for name in [name for name in main if name not in _MAIN_NAMES]:
        del main[name]
    main.update({"__doc__": None, "__package__": None, "__spec__": None, "__annotations__": {}})
    main["__loader__"] = BuiltinImporter
    if sys.version_info >= (3, 14):
        del main["__annotations__"]
    return main


def _script_runner(
    spec: Dict[str, Any], flags: List[str], args: List[str], main: Dict[str, Any]
) -> Runner:
    full = os.path.abspath(spec["script"])
    name = spec.get("given", spec["script"])  # as the user wrote it
    _set_argv(name, flags + [name], args)
    if get_importer(full) is not None:
        return _archive_runner(full, main)
    if not _has_safe_path():
        sys.path[0] = os.path.dirname(os.path.realpath(full))
    with io.open_code(full) as file:
        source = file.read()
    code = trace_start.prepare_code(compile(source, full, "exec", dont_inherit=True))
    main.update({"__file__": full, "__cached__": None})
    main["__loader__"] = SourceFileLoader("__main__", full)
    return lambda: exec(code, main)


def _archive_runner(full: str, main: Dict[str, Any]) -> Runner:
    """A directory or a zip file is the first place to import from, and its `__main__` is run."""
    from _pydevd_bundle import pydevd_runpy as modules

    if _has_safe_path():
        sys.path.insert(0, full)
    else:
        sys.path[0] = full
    try:
        _name, spec, code = modules._get_main_module_details(modules._Error)
    except modules._Error as error:
        message = "%s: %s" % (sys.executable, error)
        return lambda: sys.exit(message)
    return lambda: modules._run_code(code, main, None, "__main__", spec)


def _module_runner(name: str, flags: List[str], args: List[str]) -> Runner:
    from _pydevd_bundle import pydevd_runpy as modules

    _set_argv("-m", flags + ["-m", name], args)
    if not _has_safe_path():
        sys.path[0] = os.getcwd()
    return lambda: modules._run_module_as_main(name, alter_argv=True)


def _code_runner(text: str, flags: List[str], args: List[str], main: Dict[str, Any]) -> Runner:
    _set_argv("-c", flags + ["-c", text], args)
    if not _has_safe_path():
        sys.path[0] = ""
    code = trace_start.prepare_code(compile(text, "<string>", "exec", dont_inherit=True))
    return lambda: exec(code, main)


def _has_safe_path() -> bool:
    """With `-P` or `-I` neither the program's folder nor ours is on the path."""
    return bool(getattr(sys.flags, "safe_path", False) or sys.flags.isolated)


def _set_argv(name: str, command: List[str], args: List[str]) -> None:
    sys.argv[:] = [name] + args
    if hasattr(sys, "orig_argv"):
        sys.orig_argv[:] = [sys.executable] + command + args


def _run_beneath_exec(run: Runner) -> None:
    """Run it where pydevd looks for a program's outermost frame, to notice uncaught exceptions.

    That is above a function `_exec` of a file called `pydevd`.
    """
    names: Dict[str, Any] = {"__name__": __name__}  # libraries ask every frame for it
    source = "def _exec(run):\n    run()\n"
    exec(compile(source, os.path.join(HERE, "pydevd.py"), "exec"), names)
    names["_exec"](run)


def _run_like_plain_python(run: Runner) -> None:
    """Run it; let an uncaught exception print what plain Python prints, and no frame of ours."""
    try:
        try:
            _run_beneath_exec(run)
        finally:
            end_step()
    except SystemExit as error:
        end_reports.report_exception(error)
        raise
    except BaseException as error:
        trace = error.__traceback__
        while trace is not None and is_ours(trace.tb_frame.f_code.co_filename):
            trace = trace.tb_next
        error.__traceback__ = trace
        exception_filters.stop_at_crash(error, trace)
        end_reports.report_exception(error)
        with exception_filters.printing_traceback():
            sys.excepthook(type(error), error, trace)
        if isinstance(error, KeyboardInterrupt):
            _exit_by_interrupt()
        raise SystemExit(1) from None


def _exit_by_interrupt() -> None:
    """Plain Python ends by the signal itself: raise it again, with nothing left to print."""
    hook = sys.excepthook

    def silent(*_exception: Any) -> None:
        sys.excepthook = hook

    sys.excepthook = silent
    raise KeyboardInterrupt from None
