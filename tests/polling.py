"""Waiting for what announces itself by no event: looked for again and again, until a deadline."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
PATIENCE_SECONDS = 30.0
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
        waited_for = what if isinstance(what, str) else what()
        assert time.monotonic() < deadline, f"waited {seconds:g} s in vain for {waited_for}"
        time.sleep(pause)
    return value
