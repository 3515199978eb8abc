"""Which call breakpoints a call meets.

A breakpoint names functions (exactly or by a pattern with `*`, `?` and `[…]`), an alias, a kind of
call, a session, a moment and a condition; whatever it leaves out fits every call. A call that fits
is a hit; the hit condition says on which hits something happens.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from holdfast.core import filters, hit_conditions
from holdfast.core.filters import Call, Filter
from holdfast.core.hit_conditions import HitCondition
from holdfast.model.call import CallBreakpoint, CallRecord, Function, When

_PATTERN = re.compile(r"[*?\[]")


def is_pattern(text: str) -> bool:
    return bool(_PATTERN.search(text))


def fits(wanted: str, name: str) -> bool:
    """A name as it is, or one that a pattern describes."""
    return name == wanted or (is_pattern(wanted) and fnmatch.fnmatchcase(name, wanted))


def names_of(function: Function) -> list[str]:
    """Every name under which somebody may know it."""
    names = [function.name]
    if function.qualname:
        names.append(function.qualname)
        if function.module:
            names.append(f"{function.module}.{function.qualname}")
    elif function.module:
        names.append(f"{function.module}.{function.name}")
    return names


@dataclass
class Armed:
    """A breakpoint in force, with what it counts."""

    point: CallBreakpoint
    hits: int = 0
    undecided: int = 0
    """How often the condition could not be decided, and `message` says why it could not last."""
    message: str | None = None
    condition: Filter | None = field(init=False)
    hit_condition: HitCondition | None = field(init=False)

    def note_undecided(self, why: str) -> None:
        """It was hit, and what it wants could not be had."""
        self.undecided += 1
        self.message = why

    def __post_init__(self) -> None:
        given = self.point
        self.condition = None if given.condition is None else filters.parse(given.condition)
        self.hit_condition = (
            None if given.hit_condition is None else hit_conditions.parse(given.hit_condition)
        )

    def fits(self, call: CallRecord, when: When, names: list[str]) -> bool:
        """All but the condition: what costs next to nothing."""
        point = self.point
        if not point.enabled or point.when is not when:
            return False
        if point.session_id is not None and point.session_id != call.session_id:
            return False
        if point.call_type is not None and point.call_type != call.call_type:
            return False
        if point.alias is not None and not fits(point.alias, call.function.alias or ""):
            return False
        return point.function is None or any(fits(point.function, name) for name in names)

    def count(self, matches: bool, why: str | None) -> bool:
        """Count a call that fits; return whether something happens. `why` says why its condition
        could not be decided."""
        if why is not None:
            self.note_undecided(f"the condition could not be decided: {why}")
        if not matches:
            return False
        self.hits += 1
        return self.hit_condition is None or self.hit_condition.matches(self.hits)


def first_hit(
    breakpoints: Iterable[Armed], call: CallRecord, when: When, values: Callable[[], Call]
) -> Armed | None:
    """The breakpoint that acts on this call: the first that is hit. All that fit are counted.

    When `values` raises, or a value does, nothing has been counted.
    """
    names = names_of(call.function)
    fitting = [armed for armed in breakpoints if armed.fits(call, when, names)]
    if not fitting:
        return None
    cached: list[Call] = []

    def once() -> Call:
        if not cached:
            cached.append(values())
        return cached[0]

    verdicts = [
        (True, None) if armed.condition is None else armed.condition.judged(once())
        for armed in fitting
    ]
    acting = [
        armed for armed, verdict in zip(fitting, verdicts, strict=True) if armed.count(*verdict)
    ]
    return acting[0] if acting else None
