"""Where a framework says so, a run of its agent is a run of the bridge: the outermost one."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar

from holdfast.bridge import Bridge

_is_running: ContextVar[bool] = ContextVar("holdfast_is_running", default=False)


def is_nested() -> bool:
    """Whether an agent is run by a tool of another."""
    return _is_running.get()


@contextlib.contextmanager
def open_run(dbg: Bridge, lane: str | None = None) -> Iterator[None]:
    if _is_running.get():
        yield
        return
    token = _is_running.set(True)
    try:
        with dbg.run(lane=lane):
            yield
    finally:
        with contextlib.suppress(ValueError):  # closed in another task than it was opened in
            _is_running.reset(token)
