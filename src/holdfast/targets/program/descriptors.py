"""The server's file descriptors: as many as it may have, and some kept for its clients.

A target needs five of them. The soft limit is raised at the start, and each target gets the limit
back that the server was started with. Nothing is started while fewer than a third are free, so
that clients can still connect, and see what is wrong.
"""

from __future__ import annotations

import contextlib
import errno
import os
import resource
from collections.abc import Iterator
from typing import Any

from holdfast import errors

MAX_RESERVE = 1000
MAX_LIMIT = 65536
_EXHAUSTED = (errno.EMFILE, errno.ENFILE)
_original: tuple[int, int] | None = None


def raise_limit() -> None:
    """Raise the soft limit of this process, where its children can be given the original one."""
    global _original
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    soft, hard = limits
    wanted = MAX_LIMIT if hard == resource.RLIM_INFINITY else min(hard, MAX_LIMIT)
    if _original is not None or not hasattr(resource, "prlimit") or soft >= wanted:
        return
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        _original = limits


def restore_limit(pid: int) -> None:
    """Give a child the limit that it would have without us."""
    prlimit: Any = getattr(resource, "prlimit", None)
    if _original is not None and prlimit is not None:
        with contextlib.suppress(OSError, ValueError):  # it has ended
            prlimit(pid, resource.RLIMIT_NOFILE, _original)


def check_room() -> None:
    """Raise `NoDescriptors` while only the reserve for clients is left."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    try:
        used = len(os.listdir("/dev/fd"))
    except OSError as problem:
        if not is_exhausted(problem):
            return  # they cannot be counted here
        used = limit
    if limit - used < min(limit // 3, MAX_RESERVE) and limit != resource.RLIM_INFINITY:
        raise errors.NoDescriptors(
            f"the server has {used} of {limit} file descriptors in use", used=used, limit=limit
        )


@contextlib.contextmanager
def report_exhaustion() -> Iterator[None]:
    """Raise `NoDescriptors` for an OSError that says that there are no more descriptors."""
    try:
        yield
    except OSError as problem:
        if is_exhausted(problem):
            raise errors.NoDescriptors(f"no file descriptor is left: {problem}") from None
        raise


def is_exhausted(problem: OSError) -> bool:
    return problem.errno in _EXHAUSTED
