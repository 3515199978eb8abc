"""Processes that the program starts: told to the server, and never left hanging.

A forked child inherits the tracing but not the threads that talk to the server: the first
breakpoint would stop it for ever. Unless children are followed, it is set free at once.
"""

from __future__ import annotations

import os
import sys
from typing import Any, Callable, List

from . import debugger


def watch(follow: bool, connection: Any) -> None:
    if not follow:
        os.register_at_fork(after_in_child=lambda: _set_free(connection))
    for name in ("fork", "forkpty"):
        if hasattr(os, name):
            setattr(os, name, _telling_fork(getattr(os, name)))
    for name in ("posix_spawn", "posix_spawnp"):
        if hasattr(os, name):
            setattr(os, name, _telling_spawn(getattr(os, name)))
    _watch_fork_exec()


def _set_free(connection: Any) -> None:
    """In a forked child: no tracing, no debugger, no share in the parent's connection."""
    from _pydevd_bundle.pydevd_constants import PYDEVD_USE_SYS_MONITORING, set_global_debugger

    try:
        if PYDEVD_USE_SYS_MONITORING:
            monitoring = getattr(sys, "monitoring")
            for tool in range(6):
                if "pydevd" in (monitoring.get_tool(tool) or "").lower():
                    monitoring.set_events(tool, 0)
                    monitoring.free_tool_id(tool)
        else:
            import pydevd_tracing

            pydevd_tracing.restore_sys_set_trace_func()
            sys.settrace(None)
        import threading

        threading.settrace(None)
        set_global_debugger(None)
        os.close(connection.detach())
    except Exception:
        pass


def _tell(pid: int, how: str, command: List[str]) -> None:
    debugger.report("child", pid=pid, how=how, command=command)


def _telling_fork(original: Callable[..., Any]) -> Callable[..., Any]:
    def fork() -> Any:
        answer = original()
        pid = answer[0] if isinstance(answer, tuple) else answer
        if pid > 0:
            _tell(pid, "fork", list(map(str, sys.argv)))
        return answer

    fork.__name__ = original.__name__
    return fork


def _telling_spawn(original: Callable[..., Any]) -> Callable[..., Any]:
    def posix_spawn(path: Any, argv: Any, *args: Any, **kwargs: Any) -> Any:
        pid = original(path, argv, *args, **kwargs)
        _tell(pid, "spawn", [os.fsdecode(part) for part in argv])
        return pid

    posix_spawn.__name__ = original.__name__
    return posix_spawn


def _watch_fork_exec() -> None:
    """`subprocess` and `multiprocessing` start children through this one C function."""
    import _posixsubprocess

    original = _posixsubprocess.fork_exec

    def fork_exec(args: Any, *rest: Any, **kwargs: Any) -> Any:
        pid = original(args, *rest, **kwargs)
        _tell(pid, "exec", [os.fsdecode(part) for part in args])
        return pid

    _posixsubprocess.fork_exec = fork_exec
    subprocess: Any = sys.modules.get("subprocess")
    if hasattr(subprocess, "_fork_exec"):
        subprocess._fork_exec = fork_exec
