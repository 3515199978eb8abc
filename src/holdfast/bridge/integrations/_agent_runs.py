"""Where a framework says so, a run of its agent is a run of the bridge."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar

from holdfast.bridge import Bridge
from holdfast.bridge.lanes import ActiveTool

_running: ContextVar[tuple[Bridge, ActiveTool | None] | None] = ContextVar(
    "holdfast_running", default=None
)
"""The session of the run that goes on here, and the tool that it was begun by."""


@contextlib.contextmanager
def open_run(dbg: Bridge, lane: str | None = None, name: str | None = None) -> Iterator[None]:
    """Once for each agent: a framework may begin a run by another of its own methods.

    An agent that a tool of another runs gets a lane with its own name, and so does one that runs
    beside another. Any other is the main one.
    """
    here = (dbg, dbg.lanes.tool)
    if _running.get() == here:
        yield
        return
    token = _running.set(here)
    run = dbg.run(lane=None if dbg.lanes.tool is not None else lane)
    run.name, run.is_alone = (lane or name), True
    try:
        with run:
            yield
    finally:
        with contextlib.suppress(ValueError):  # closed in another task than it was opened in
            _running.reset(token)


def name_lane(lane: str | None) -> str:
    """The lane to name in a call: none while a run goes on here, which has its own."""
    return "" if lane is None or _running.get() is not None else lane
