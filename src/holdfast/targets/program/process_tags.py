"""Tags: which session of which server a process belongs to.

A tag survives what a process group does not: fork, exec, setsid and the double fork of a daemon.
It is the soft limit of file locks (RLIMIT_LOCKS), inherited by every child and ignored by the
kernel since 2.4.25. Where tags do not work a session's tag is None, and others stand in for it.
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
    """Free these processes, and the children they will have, from the server that tagged them."""
    for pid in pids:
        _set_soft_limit(pid, lambda hard: hard)


def tagged(tag: int) -> list[int]:
    """The living processes of one session."""
    return warden.sweep(lambda pid: warden.tag_of(pid) == tag)


def tagged_by(nonce: int) -> list[int]:
    """The living processes of every session of one server."""

    def belongs(pid: int) -> bool:
        tag = warden.tag_of(pid)
        return tag is not None and tag >> warden.COUNTER_BITS == nonce

    return warden.sweep(belongs)


def _set_soft_limit(pid: int, choose: Callable[[int], int]) -> bool:
    prlimit: Any = getattr(resource, "prlimit", None)
    if prlimit is None:
        return False
    try:
        _, hard = prlimit(pid, RLIMIT_LOCKS)
        prlimit(pid, RLIMIT_LOCKS, (choose(hard), hard))
    except (OSError, ValueError):
        return False  # gone, not ours, or a hard limit too low to hold a tag
    return True
