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
OUTPUT_BYTES = 64 * 1024
"""How much output an answer carries unless it is asked for more."""
MAX_OUTPUT_BYTES = 2 * 1024 * 1024
"""How much output one answer may carry. It is in memory until its last byte is sent."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of every request that makes a target run."""

    by: str = "rest"
    """Who decided."""
    wait: Wait = None
    include: Sequence[str] | str | None = None
    thread_id: int | None = None
    lane: str | None = None
    """Of an agent: the lane that is meant; None means all."""
    output_since: str | int | None = None
    output_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Included:
    """What the answer at a stop carries besides the stop itself."""

    names: tuple[str, ...] = ()
    output_since: int | None = None
    """The cursor after which output is wanted; None: what no answer of this run has shown."""
    output_bytes: int = OUTPUT_BYTES

    def __contains__(self, name: str) -> bool:
        return name in self.names


NOTHING = Included()
_DEFAULT = Included(DEFAULT_INCLUDE)


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


def parse_include(options: RunOptions) -> Included:
    """What the answer at a stop carries."""
    if options.include is None and options.output_since is None and options.output_bytes is None:
        return _DEFAULT
    size = OUTPUT_BYTES if options.output_bytes is None else options.output_bytes
    since = None if options.output_since is None else parse_cursor(str(options.output_since))
    return Included(_parse_names(options.include), since, size)


def parse_cursor(text: str | None, field: str = "output_since") -> int:
    """The number after which a list goes on."""
    if text is None or text == "":
        return 0
    if not (text.isascii() and text.isdecimal() and len(text) < 20):
        raise errors.InvalidInput(
            f"{text!r} is not a cursor", hint="Use the cursor of an earlier answer.", field=field
        )
    return int(text)


def _parse_names(include: Sequence[str] | str | None) -> tuple[str, ...]:
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
