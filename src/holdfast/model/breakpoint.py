"""Breakpoints of programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


def build_breakpoint_id(number: int) -> str:
    """The id of the breakpoint that the probe knows by this number."""
    return f"bp_{number:x}"


@dataclass(frozen=True)
class FunctionPlace:
    """Where a function is that a breakpoint stops in."""

    file: str
    line: int
    """Of its `def`."""
    name: str
    """Its bare name, as in `co_name`."""
    qualname: str
    """As users write it, without `<locals>`."""
    first_line: int
    """Where its code begins, decorators included."""


@dataclass(frozen=True)
class Breakpoint:
    """A breakpoint on a line (`file`, `line`) or on functions (`function`).

    `verified` is true only if it can stop the program. Otherwise `message` says why not, and
    `suggestion` is a line at which it could. A name or a pattern may stand for several functions:
    `file` and `line` are those of the last of `places`.
    """

    id: str
    file: str | None = None
    line: int | None = None
    function: str | None = None
    condition: str | None = None
    hit_condition: str | None = None
    log_message: str | None = None
    enabled: bool = True
    verified: bool = False
    message: str | None = None
    suggestion: int | None = None
    hits: int = 0
    places: tuple[FunctionPlace, ...] = ()
    names: tuple[tuple[str, str], ...] = ()
    """What the probe looks for in modules that begin to run: (module, qualified name)."""

    MAX_PLACES: ClassVar[int] = 100
    """How many of its functions are listed. It stops in the others too."""

    @property
    def number(self) -> int:
        """The number in the id, by which the probe knows it."""
        return int(self.id.rpartition("_")[2], 16)

    @property
    def is_function(self) -> bool:
        return self.function is not None


@dataclass(frozen=True)
class ExceptionFilters:
    """Which exceptions stop: those of `filters`, or only the `types` (class names) among them."""

    filters: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    user_code_only: bool = False

    NAMES = ("raised", "uncaught", "userUnhandled")
