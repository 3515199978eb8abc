"""Tags, which say to which session of which server a process belongs.

Unlike a process group, a tag survives setsid and the double fork of a daemon. It is the soft limit
of file locks (RLIMIT_LOCKS), which every child inherits and the kernel has ignored since 2.4.25.
Where tags do not work a session's tag is None, and its processes are found by group and descent.
"""

from __future__ import annotations

import itertools
import os
import resource
import secrets
from collections.abc import Callable
from functools import cache
from typing import Any

from holdfast.targets.program import warden

RLIMIT_LOCKS = 10  # Python does not name it


class Tags:
    """The tags of one server: a nonce of its own, then a number for each session."""

    def __init__(self) -> None:
        self.nonce = secrets.randbits(40) or 1
        self._numbers = itertools.count(1)

    def new(self) -> int | None:
        """A tag for one session, or None where tags do not work."""
        if not tags_work():
            return None
        number = next(self._numbers) % (1 << warden.COUNTER_BITS)
        return (self.nonce << warden.COUNTER_BITS) | number


@cache
def tags_work() -> bool:
    return hasattr(resource, "prlimit") and os.path.exists("/proc/self/limits")


def set_tag(pid: int, tag: int) -> bool:
    """Tag one process; its future children inherit it. False when it cannot be tagged."""
    return _set_soft_limit(pid, lambda hard: tag) and warden.tag_of(pid) == tag


def untag(*pids: int) -> None:
    """Remove the tag from these processes, and so from the children that they will have."""
    for pid in pids:
        _set_soft_limit(pid, lambda hard: hard)


def find_tagged(tag: int) -> list[int]:
    """The living processes of one session."""
    return warden.sweep(lambda pid: warden.tag_of(pid) == tag)


def _set_soft_limit(pid: int, choose: Callable[[int], int]) -> bool:
    prlimit: Any = getattr(resource, "prlimit", None)
    if prlimit is None:
        return False
    try:
        _, hard = prlimit(pid, RLIMIT_LOCKS)
        prlimit(pid, RLIMIT_LOCKS, (choose(hard), hard))
    except (OSError, ValueError):
        return False  # it has ended, is not ours, or its hard limit is too low for a tag
    return True
