"""Where, and on what, a program is to stop."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Breakpoint:
    """A line (`file`, `line`) or a function (`function`), and when it counts.

    `verified` is only true of one that can fire; otherwise `message` says why not, and
    `suggestion` names a line that could.
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
    name: str | None = None  # of a resolved function: its bare name…
    first_line: int | None = None  # …and where its code begins, decorators included

    @property
    def number(self) -> int:
        """The id as the debugger in the target knows it."""
        return int(self.id.rpartition("_")[2])

    @property
    def is_function(self) -> bool:
        return self.function is not None


@dataclass(frozen=True)
class ExceptionFilters:
    """`raised`, `uncaught`, `userUnhandled`; narrowed to `types` (class names) when given."""

    filters: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    user_code_only: bool = False

    NAMES = ("raised", "uncaught", "userUnhandled")
