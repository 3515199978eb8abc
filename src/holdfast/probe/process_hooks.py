"""Hooks around fork, spawn and exec: children are reported to the server, and never hang.

Another one is around `os._exit`, which would lose what the program has not reported yet.

A forked child inherits the tracing but not the threads that talk to the server: the first
breakpoint would stop it for ever. So every fork is detached before its first line. Where the
server follows children, a forked one then connects with a debugger of its own, and a new Python
process is started through `boot.py --join` (see `child_startup`).
"""

from __future__ import annotations

import functools
import os
import sys
import warnings
from typing import Any, Callable, List, Optional, Tuple

from . import child_startup, detachment, end_reports, join_ticket, server_messages
from .child_policy import ChildPolicy
from .pydevd_access import user_threads

BEFORE_END: List[Callable[[], None]] = []
"""Called before the process ends, or runs another program, without a chance to clean up."""


def _call_before_end() -> None:
    for call in BEFORE_END:
        call()


def install(connection: Any, ticket: Optional[join_ticket.Ticket]) -> None:
    """From now on, report every child to the server. With a ticket, it follows them."""
    ChildPolicy.connection, ChildPolicy.ticket, ChildPolicy.is_watching = connection, ticket, True
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
    os._exit = _wrap_exit(os._exit)
    _wrap_fork_exec()


def _report_child(pid: int, how: str, command: List[str], followed: bool) -> None:
    server_messages.report("child", pid=pid, how=how, command=command, followed=followed)


def _report_replacement(argv: Any, followed: bool) -> None:
    """Tell that another program takes the place of this one. With it goes the debugger."""
    try:
        command = [os.fsdecode(part) for part in argv]
    except TypeError:
        return  # a mistake, which the call itself will report
    _call_before_end()
    server_messages.report("replaced", command=command, followed=followed)
    server_messages.flush()


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
            followed = ChildPolicy.ticket is not None
            _report_child(pid, "fork", list(map(str, sys.argv)), followed)
        elif ChildPolicy.ticket is not None and not child_startup.join_forked(
            ChildPolicy.ticket, _keep_connection
        ):
            _detach_fork()
        return answer

    return _copy_names(fork, original)


def _copy_names(wrapper: Any, original: Any) -> Callable[..., Any]:
    """Have it look like the function of `os` that it stands for, its signature included."""
    wrapper.__text_signature__ = getattr(original, "__text_signature__", None)
    return functools.update_wrapper(wrapper, original)


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
    if ChildPolicy.ticket is None:
        return argv, False
    command = child_startup.rewrite_command(argv, executable, ChildPolicy.ticket)
    return (argv, False) if command is None else (command, True)


def _wrap_spawn(original: Callable[..., Any]) -> Callable[..., Any]:
    def posix_spawn(path: Any, argv: Any, *args: Any, **kwargs: Any) -> Any:
        command, followed = _rewrite_command(argv, path)
        pid = original(path, command, *args, **kwargs)
        _report_child(pid, "spawn", [os.fsdecode(part) for part in argv], followed)
        return pid

    return _copy_names(posix_spawn, original)


def _wrap_exec(original: Callable[..., Any]) -> Callable[..., Any]:
    def execv(path: Any, argv: Any, *env: Any) -> Any:
        command, followed = _rewrite_command(argv, path)
        _report_replacement(argv, followed)
        try:
            return original(path, command, *env)
        finally:  # it is still here, so it was not replaced
            server_messages.report("not_replaced")

    return _copy_names(execv, original)


def _wrap_exit(original: Callable[..., Any]) -> Callable[..., Any]:
    def _exit(status: int) -> Any:
        if type(status) is int:  # else it is a mistake, and does not end
            _call_before_end()
            end_reports.report_sudden_end()
        return original(status)

    return _copy_names(_exit, original)


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
