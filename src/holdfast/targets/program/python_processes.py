"""The Python processes of this machine, and whether a debugger may attach to them."""

from __future__ import annotations

import mmap
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import psutil

from holdfast.wire.server_answers import PythonProcess

PYTHON = re.compile(
    r"(?:python|pypy)w?(?P<version>\d+(?:\.\d+)*)?[tdm]*(?:-dbg|-debug)?(?:\.exe)?",
    re.IGNORECASE,
)
_OLDEST = (3, 9)
_LIBRARY = re.compile(r"libpython\d[\w.]*$", re.MULTILINE)
_VERSION = re.compile(r"python(\d)\.(\d+)")
PTRACE_SCOPE = "/proc/sys/kernel/yama/ptrace_scope"
CAP_SYS_PTRACE = 1 << 19
FACTS = ["cmdline", "create_time", "cwd", "exe", "name", "status", "username"]


@dataclass(frozen=True, slots=True)
class Permissions:
    """What this server may do to the processes of this machine."""

    pid: int
    uid: int
    may_trace_all: bool
    ptrace_scope: int


def python_processes(exclude: Iterable[int] = ()) -> list[PythonProcess]:
    """All of them but `exclude`, by pid. Reads /proc: call it in a thread."""
    permissions, excluded = _read_permissions(), frozenset(exclude)
    processes = []
    for process in psutil.process_iter(FACTS):
        if process.pid in excluded or process.info["status"] == psutil.STATUS_ZOMBIE:
            continue
        try:
            described = _describe(process, permissions)
        except psutil.NoSuchProcess:
            continue  # it ended while we looked
        if described is not None:
            processes.append(described)
    return sorted(processes, key=lambda described: described["pid"])


def _describe(process: psutil.Process, permissions: Permissions) -> PythonProcess | None:
    info = process.info
    cmdline: list[str] = info["cmdline"] or []
    names = [_basename(path) for path in (info["exe"], *cmdline[:1]) if path]
    matches = [match for name in names if (match := PYTHON.fullmatch(name))]
    if not matches:
        return None
    listening = listening_port(cmdline)
    reason = find_obstacle(process, cmdline, listening, permissions)
    return {
        "pid": process.pid,
        "name": info["name"] or names[0],
        "cmdline": cmdline,
        "cwd": info["cwd"] or None,
        "user": info["username"],
        "python": next((match["version"] for match in matches if match["version"]), None),
        "create_time": info["create_time"],
        "debuggable": reason is None,
        "reason": reason,
        "listening": listening,
    }


def _basename(path: str) -> str:
    # Remove the dash of a login shell, and the suffix " (deleted)" that /proc adds.
    return os.path.basename(path.removesuffix(" (deleted)")).removeprefix("-")


def find_obstacle_of_pid(pid: int) -> str | None:
    """Why a debugger cannot attach to this process. Raises NoSuchProcess if it does not exist.

    It reads the process's executable: call it in a thread.
    """
    process = psutil.Process(pid)
    if process.status() == psutil.STATUS_ZOMBIE:
        raise psutil.NoSuchProcess(pid)
    reason = find_obstacle(process, [], None, _read_permissions())
    return reason or _find_obstacle_in_program(process)


def _find_obstacle_in_program(process: psutil.Process) -> str | None:
    """Why the program that a process runs is no Python that a debugger can attach to."""
    try:
        executable = os.readlink(f"/proc/{process.pid}/exe")
    except FileNotFoundError:
        return "it is not a Python process"  # a thread of the kernel has no program
    except OSError:
        return "the system lets nobody read it"
    name = _basename(executable)
    if name.startswith("pypy"):
        return "it runs PyPy, and only CPython can be attached to"
    libraries = _list_python_libraries(process.pid)
    if not libraries and not _has_interpreter(f"/proc/{process.pid}/exe"):
        return "it is not a Python process"
    version = find_version(process.pid)
    if version is not None and tuple(map(int, version.split("."))) < _OLDEST:
        return f"it runs Python {version}, and 3.9 is the oldest that can be debugged"
    return None


def find_version(pid: int) -> str | None:
    """The version of its Python, such as `3.11`, by the names of its files; None if unknown."""
    try:
        name = _basename(os.readlink(f"/proc/{pid}/exe"))
    except OSError:
        return None
    for text in (*_list_python_libraries(pid), name):
        version = _VERSION.search(text)
        if version:
            return f"{version[1]}.{version[2]}"
    return None


def _list_python_libraries(pid: int) -> list[str]:
    """The names of the shared libraries of Python in its memory."""
    try:
        with open(f"/proc/{pid}/maps", errors="replace") as file:
            return sorted({found[0] for line in file if (found := _LIBRARY.search(line))})
    except OSError:
        return []


def _has_interpreter(executable: str) -> bool:
    """Whether the interpreter is part of the executable itself."""
    try:
        with (
            open(executable, "rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
        ):
            return content.find(b"PyGILState_Ensure") >= 0
    except (OSError, ValueError):
        return True  # gdb will tell


# -- may we attach -------------------------------------------------------------------------------


def find_obstacle(
    process: psutil.Process, cmdline: Sequence[str], listening: int | None, permissions: Permissions
) -> str | None:
    """Why a debugger cannot attach, or None when it can."""
    if process.pid == permissions.pid:
        return "it is this server itself"
    if _is_adapter(cmdline):
        return "it is the adapter of another debugger"
    if listening is not None:
        return None  # it listens for a debugger, so it need not be traced
    if not permissions.may_trace_all:
        if process.uids().real != permissions.uid:
            return "it belongs to another user"
        if permissions.ptrace_scope:
            return f"tracing is restricted here (ptrace_scope is {permissions.ptrace_scope})"
    elif permissions.ptrace_scope == 3:
        return "tracing is switched off here (ptrace_scope is 3)"
    if process.status() == psutil.STATUS_STOPPED:
        return f"it is stopped by a signal; `kill -CONT {process.pid}` lets it go on"
    tracer = _status_field(process.pid, "TracerPid")
    return f"process {tracer} traces it already" if tracer not in ("", "0") else None


def _read_permissions() -> Permissions:
    capabilities = int(_status_field(os.getpid(), "CapEff") or "0", 16)
    root = os.geteuid() == 0
    # In a container root may lack the capability. Without /proc, being root has to be enough.
    may_trace_all = bool(capabilities & CAP_SYS_PTRACE) or (
        root and not os.path.isdir("/proc/self")
    )
    return Permissions(os.getpid(), os.getuid(), may_trace_all, _ptrace_scope())


def _ptrace_scope() -> int:
    try:
        with open(PTRACE_SCOPE) as file:
            return int(file.read())
    except (OSError, ValueError):
        return 0


def _status_field(pid: int, name: str) -> str:
    try:
        with open(f"/proc/{pid}/status", errors="replace") as file:
            lines = file.read().splitlines()
    except OSError:
        return ""
    return next((line.split()[1] for line in lines if line.startswith(f"{name}:")), "")


# -- the command line of a process ---------------------------------------------------------------


def listening_port(cmdline: Sequence[str]) -> int | None:
    """The port in `python -m debugpy --listen [host:]port`, and not in a program's own options."""
    start = _debugpy_options(cmdline)
    for option, value in zip(cmdline[start:], cmdline[start + 1 :], strict=False):
        if option == "--connect":
            return None
        if option == "--listen":
            port = value.rpartition(":")[2]
            return int(port) if port.isdigit() else None
    return None


def _debugpy_options(cmdline: Sequence[str]) -> int:
    """Where the options of debugpy begin; past the end when it is not debugpy."""
    for place, word in enumerate(cmdline[1:], start=1):
        if word == "debugpy" and cmdline[place - 1] == "-m":
            return place + 1
        if not word.startswith("-") and cmdline[place - 1] not in ("-W", "-X"):
            is_debugpy = os.path.basename(word.rstrip("/")) == "debugpy"
            return place + 1 if is_debugpy else len(cmdline)
    return len(cmdline)


def _is_adapter(cmdline: Sequence[str]) -> bool:
    words = [word.replace("\\", "/").rstrip("/") for word in cmdline[1:4]]
    return any(word.endswith("debugpy/adapter") or word == "debugpy.adapter" for word in words)
