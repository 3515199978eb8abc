"""Breakpoints of programs."""

from __future__ import annotations

from dataclasses import dataclass


def build_breakpoint_id(number: int) -> str:
    """The id of the breakpoint that the probe knows by this number."""
    return f"bp_{number:x}"


@dataclass(frozen=True)
class Breakpoint:
    """A breakpoint on a line (`file`, `line`) or on a function (`function`).

    `verified` is true only if it can stop the program. Otherwise `message` says why not, and
    `suggestion` is a line at which it could.
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
    name: str | None = None  # the bare name of a resolved function
    first_line: int | None = None  # where its code begins, decorators included

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
