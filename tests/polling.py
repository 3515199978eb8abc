"""Waits for what no event announces, by looking again and again until a deadline."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")
PATIENCE_SECONDS = 60.0  # a loaded machine is slow
_PAUSE_SECONDS = 0.005


def wait_until(
    look: Callable[[], T | None],
    what: Callable[[], object] | str = "it",
    seconds: float = PATIENCE_SECONDS,
    pause: float = _PAUSE_SECONDS,
) -> T:
    """The first true value that `look` returns. A wait in vain fails, and says for what."""
    deadline = time.monotonic() + seconds
    while not (value := look()):
        if time.monotonic() > deadline:
            waited_for = what if isinstance(what, str) else what()
            raise AssertionError(f"waited {seconds:g} s in vain for {waited_for}")
        time.sleep(pause)
    return value


async def wait_until_async(
    look: Callable[[], T | None],
    what: Callable[[], object],
    pause: Callable[[float], Awaitable[object]],
) -> T:
    """The same on an event loop, with its way to pause."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (value := look()):
        assert time.monotonic() < deadline, f"waited in vain: {what()}"
        await pause(_PAUSE_SECONDS)
    return value
