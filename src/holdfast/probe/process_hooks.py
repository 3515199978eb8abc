"""Processes that the program starts: told to the server, and never left hanging.

A forked child inherits the tracing but not the threads that talk to the server: the first
breakpoint would stop it for ever. So every fork is set free before its first line. Where the
server follows children, a forked one then joins it with a debugger of its own, and a Python that
is started anew is started through `boot.py --join` (see `joining`).
"""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any, Callable, List, Tuple

from . import child_startup, debugger, detachment


class Family:
    """How children are to be treated now; renewed by each debugger that comes."""

    hooked = False
    watched_now = False
    port = 0  # where they report; 0 when they are not followed
    connection: Any = None


def watch(connection: Any, port: int) -> None:
    """From now on, tell the server of every child."""
    Family.connection, Family.port, Family.watched_now = connection, port, True
    if Family.hooked:
        return
    Family.hooked = True
    os.register_at_fork(after_in_child=_set_free)
    for name in ("fork", "forkpty"):
        if hasattr(os, name):
            setattr(os, name, _telling_fork(getattr(os, name)))
    for name in ("posix_spawn", "posix_spawnp"):
        if hasattr(os, name):
            setattr(os, name, _telling_spawn(getattr(os, name)))
    for name in ("execv", "execve"):
        setattr(os, name, _joining_exec(getattr(os, name)))
    _watch_fork_exec()


def unwatch() -> None:
    """The server has gone: children are as they would be without it."""
    Family.port, Family.watched_now = 0, False


def _tell(pid: int, how: str, command: List[str], followed: bool) -> None:
    debugger.report("child", pid=pid, how=how, command=command, followed=followed)


# -- in a forked child ----------------------------------------------------------------------------


def _set_free() -> None:
    """No tracing, no debugger, no share in the parent's connection. Each as far as it goes."""
    for step in (detachment.forked, _forget_debugger, _close_connection):
        try:
            step()
        except Exception:
            pass


def _forget_debugger() -> None:
    from _pydevd_bundle.pydevd_constants import set_global_debugger

    set_global_debugger(None)


def _close_connection() -> None:
    connection, Family.connection = Family.connection, None
    if connection is not None:
        os.close(connection.detach())


# -- ways to start one ----------------------------------------------------------------------------


def _telling_fork(original: Callable[..., Any]) -> Callable[..., Any]:
    def fork() -> Any:
        answer = _quietly(original)
        pid = answer[0] if isinstance(answer, tuple) else answer
        if pid > 0:
            _tell(pid, "fork", list(map(str, sys.argv)), followed=Family.port > 0)
        elif Family.port > 0 and not child_startup.join_forked(Family.port, _joined):
            _set_free()
        return answer

    fork.__name__ = original.__name__
    return fork


def _quietly(fork: Callable[[], Any]) -> Any:
    """From 3.12 on a fork beside threads warns. The debugger's own threads are no reason to;

    for the program's own the warning is given again, and names the line that forks.
    """
    if sys.version_info < (3, 12):
        return fork()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        answer = fork()
    if len(list(debugger.user_threads())) > 1:
        for each in caught:
            warnings.warn(each.message, stacklevel=3)
    return answer


def _joined(connection: Any) -> None:
    Family.connection = connection


def _rewritten(argv: Any, executable: Any) -> Tuple[Any, bool]:
    """The command to run in place of this one, and whether it will join us."""
    if Family.port <= 0:
        return argv, False
    changed = child_startup.through_boot(argv, executable, Family.port)
    return (argv, False) if changed is None else (changed, True)


def _telling_spawn(original: Callable[..., Any]) -> Callable[..., Any]:
    def posix_spawn(path: Any, argv: Any, *args: Any, **kwargs: Any) -> Any:
        command, followed = _rewritten(argv, path)
        pid = original(path, command, *args, **kwargs)
        _tell(pid, "spawn", [os.fsdecode(part) for part in argv], followed)
        return pid

    posix_spawn.__name__ = original.__name__
    return posix_spawn


def _joining_exec(original: Callable[..., Any]) -> Callable[..., Any]:
    def execv(path: Any, argv: Any, *env: Any) -> Any:
        return original(path, _rewritten(argv, path)[0], *env)

    execv.__name__ = original.__name__
    return execv


def _watch_fork_exec() -> None:
    """`subprocess` and `multiprocessing` start children through this one C function."""
    import _posixsubprocess

    original = _posixsubprocess.fork_exec

    def fork_exec(argv: Any, executables: Any, *rest: Any) -> Any:
        command, followed = _rewritten(argv, executables[0] if executables else None)
        pid = original(command, executables, *rest)
        _tell(pid, "exec", [os.fsdecode(part) for part in argv], followed)
        return pid

    _posixsubprocess.fork_exec = fork_exec
    subprocess: Any = sys.modules.get("subprocess")
    if hasattr(subprocess, "_fork_exec"):
        subprocess._fork_exec = fork_exec
