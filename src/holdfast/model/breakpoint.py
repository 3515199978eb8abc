"""Breakpoints of programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

ACCESS_TYPES = ("write", "change")
"""When a data breakpoint fires: at every write, or only when the value is another one then."""


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
    """A breakpoint on a line (`file`, `line`), functions (`function`) or a value (`data_id`).

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
    data_id: str | None = None  # the place in the program that is watched, as the probe named it
    access: str = "write"  # of `ACCESS_TYPES`
    expression: str | None = None  # what is watched, as the user knows it
    is_until: bool = False  # it fires once, when its expression becomes true
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

    @property
    def is_data(self) -> bool:
        return self.data_id is not None

    @property
    def kind(self) -> str:
        return "data" if self.is_data else "function" if self.is_function else "line"


@dataclass(frozen=True)
class ExceptionFilters:
    """Which exceptions stop: those of `filters`, or only the `types` (class names) among them."""

    filters: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    user_code_only: bool = False

    NAMES = ("raised", "uncaught", "userUnhandled")
