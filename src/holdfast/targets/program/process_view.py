"""How a process sees the system: its namespaces, its user, and its own number in there.

A process in a container has other files, another network and other process numbers. A process of
another user may not read ours.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

_NAMESPACES = {"mnt": "mount", "net": "network", "pid": "pid"}


@dataclass(frozen=True)
class ProcessView:
    pid: int
    inner_pid: int
    """What `os.getpid()` returns in it."""
    uid: int
    gid: int
    differences: tuple[str, ...]
    """What keeps it from our files, our network or our process numbers; empty for most."""

    @property
    def is_apart(self) -> bool:
        return bool(self.differences)


def read_view(pid: int) -> ProcessView:
    """Reads /proc: raises OSError if that is not allowed, or the process has gone."""
    status = _read_status(pid)
    inner = status.get("NSpid", [str(pid)])[-1]
    uid, gid = int(status["Uid"][1]), int(status["Gid"][1])
    differences = [
        f"another {name} namespace"
        for key, name in _NAMESPACES.items()
        if os.readlink(f"/proc/{pid}/ns/{key}") != os.readlink(f"/proc/self/ns/{key}")
    ]
    if "another mount namespace" not in differences and not _has_same_root(pid):
        differences.append("another root directory")
    if uid != os.geteuid():
        differences.append("another user")
    return ProcessView(pid, int(inner), uid, gid, tuple(differences))


def _has_same_root(pid: int) -> bool:
    return os.path.samestat(os.stat(f"/proc/{pid}/root"), os.stat("/proc/self/root"))


def _read_status(pid: int) -> dict[str, list[str]]:
    with open(f"/proc/{pid}/status", errors="replace") as file:
        pairs = (line.partition(":") for line in file)
        return {name: rest.split() for name, _colon, rest in pairs}
