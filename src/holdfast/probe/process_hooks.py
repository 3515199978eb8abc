"""Hooks around fork, spawn and exec: children are reported to the server, and never hang.

A forked child inherits the tracing but not the threads that talk to the server: the first
breakpoint would stop it for ever. So every fork is detached before its first line. Where the
server follows children, a forked one then connects with a debugger of its own, and a new Python
process is started through `boot.py --join` (see `child_startup`).
"""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any, Callable, List, Tuple

from . import child_startup, detachment, server_messages
from .child_policy import ChildPolicy
from .pydevd_access import user_threads


def install(connection: Any, port: int) -> None:
    """From now on, report every child to the server."""
    ChildPolicy.connection, ChildPolicy.port, ChildPolicy.is_watching = connection, port, True
    if ChildPolicy.is_hooked:
        return
    ChildPolicy.is_hooked = True
    os.register_at_fork(after_in_child=_detach_fork)
    for name in ("fork", "forkpty"):
        if hasattr(os, name):
            setattr(os, name, _wrap_fork(getattr(os, name)))
    for name in ("posix_spawn", "posix_spawnp"):
        if hasattr(os, name):
            setattr(os, name, _wrap_spawn(getattr(os, name)))
    for name in ("execv", "execve"):
        setattr(os, name, _wrap_exec(getattr(os, name)))
    _wrap_fork_exec()


def _report_child(pid: int, how: str, command: List[str], followed: bool) -> None:
    server_messages.report("child", pid=pid, how=how, command=command, followed=followed)


def _report_replacement(argv: Any, followed: bool) -> None:
    """Tell that another program takes the place of this one. With it goes the debugger."""
    try:
        command = [os.fsdecode(part) for part in argv]
    except TypeError:
        return  # a mistake, which the call itself will report
    server_messages.report("replaced", command=command, followed=followed)
    server_messages.flush(1.0)


# -- in a forked child ----------------------------------------------------------------------------


def _detach_fork() -> None:
    """End tracing, and drop the debugger and the parent's connection, even if one step fails."""
    for step in (detachment.stop_tracing_in_fork, _forget_debugger, _close_connection):
        try:
            step()
        except Exception:
            pass


def _forget_debugger() -> None:
    from _pydevd_bundle.pydevd_constants import set_global_debugger

    set_global_debugger(None)


def _close_connection() -> None:
    connection, ChildPolicy.connection = ChildPolicy.connection, None
    if connection is not None:
        os.close(connection.detach())


# -- ways to start one ----------------------------------------------------------------------------


def _wrap_fork(original: Callable[..., Any]) -> Callable[..., Any]:
    def fork() -> Any:
        answer = _fork_without_warning(original)
        pid = answer[0] if isinstance(answer, tuple) else answer
        if pid > 0:
            _report_child(pid, "fork", list(map(str, sys.argv)), followed=ChildPolicy.port > 0)
        elif ChildPolicy.port > 0 and not child_startup.join_forked(
            ChildPolicy.port, _keep_connection
        ):
            _detach_fork()
        return answer

    fork.__name__ = original.__name__
    return fork


def _fork_without_warning(fork: Callable[[], Any]) -> Any:
    """Fork without the warning that 3.12 and newer give for our own threads.

    If the program has threads of its own, the warning is given again, for the line that forks.
    """
    if sys.version_info < (3, 12):
        return fork()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        answer = fork()
    if len(list(user_threads())) > 1:
        for warning in caught:
            warnings.warn(warning.message, stacklevel=3)
    return answer


def _keep_connection(connection: Any) -> None:
    ChildPolicy.connection = connection


def _rewrite_command(argv: Any, executable: Any) -> Tuple[Any, bool]:
    """The command to run in place of this one, and whether it will connect to the server."""
    if ChildPolicy.port <= 0:
        return argv, False
    command = child_startup.rewrite_command(argv, executable, ChildPolicy.port)
    return (argv, False) if command is None else (command, True)


def _wrap_spawn(original: Callable[..., Any]) -> Callable[..., Any]:
    def posix_spawn(path: Any, argv: Any, *args: Any, **kwargs: Any) -> Any:
        command, followed = _rewrite_command(argv, path)
        pid = original(path, command, *args, **kwargs)
        _report_child(pid, "spawn", [os.fsdecode(part) for part in argv], followed)
        return pid

    posix_spawn.__name__ = original.__name__
    return posix_spawn


def _wrap_exec(original: Callable[..., Any]) -> Callable[..., Any]:
    def execv(path: Any, argv: Any, *env: Any) -> Any:
        command, followed = _rewrite_command(argv, path)
        _report_replacement(argv, followed)
        try:
            return original(path, command, *env)
        finally:  # it is still here, so it was not replaced
            server_messages.report("not_replaced")

    execv.__name__ = original.__name__
    return execv


def _wrap_fork_exec() -> None:
    """`subprocess` and `multiprocessing` start children through this one C function."""
    import _posixsubprocess

    original = _posixsubprocess.fork_exec

    def fork_exec(argv: Any, executables: Any, *rest: Any) -> Any:
        command, followed = _rewrite_command(argv, executables[0] if executables else None)
        pid = original(command, executables, *rest)
        _report_child(pid, "exec", [os.fsdecode(part) for part in argv], followed)
        return pid

    _posixsubprocess.fork_exec = fork_exec
    subprocess: Any = sys.modules.get("subprocess")
    if hasattr(subprocess, "_fork_exec"):
        subprocess._fork_exec = fork_exec
