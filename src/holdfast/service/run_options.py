"""How long an operation waits, and what its answer carries: parsed once for every face."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from holdfast import errors

Wait = bool | float | str | None
"""Seconds, `true` (as long as the server allows) or `false`; None: the operation's default."""
INCLUDABLE = ("source", "locals", "stack", "output")
DEFAULT_INCLUDE = ("source", "locals")


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of every request that makes a target run."""

    by: str = "rest"
    """Who decided."""
    wait: Wait = None
    include: Sequence[str] | str | None = None
    thread_id: int | None = None


def parse_wait(wait: object, max_seconds: float, default: float = 0.0) -> float:
    """Parse how many seconds to wait: a number, or a word such as `true`."""
    if wait is None:
        return default
    if isinstance(wait, bool):
        return max_seconds if wait else 0.0
    if isinstance(wait, str):
        wait = wait.strip().lower()
        if wait in ("true", "yes"):
            return max_seconds
        if wait in ("false", "no"):
            return 0.0
    try:
        seconds = float(wait)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise _invalid_wait(wait) from None
    if not math.isfinite(seconds) or seconds < 0:
        raise _invalid_wait(wait)
    return min(seconds, max_seconds)


def _invalid_wait(wait: object) -> errors.InvalidInput:
    return errors.InvalidInput(
        f"wait must be true, false or a number of seconds, not {wait!r}", field="wait"
    )


def parse_include(include: Sequence[str] | str | None) -> tuple[str, ...]:
    """What the answer at a stop carries."""
    if include is None:
        return DEFAULT_INCLUDE
    parts = include.split(",") if isinstance(include, str) else include
    names = tuple(name.strip() for name in parts if name.strip())
    unknown = [name for name in names if name not in INCLUDABLE]
    if unknown:
        raise errors.InvalidInput(
            f"cannot include {', '.join(unknown)}",
            hint=f"include takes: {', '.join(INCLUDABLE)}.",
            field="include",
        )
    return names
