"""Decides which call breakpoints a call hits.

A breakpoint names functions (exactly or by a pattern with `*`, `?` and `[…]`), an alias, a kind of
call, a session, a moment and a condition. What it leaves out fits every call. A call that fits is a
hit. The hit condition says on which hits the breakpoint acts.
"""

from __future__ import annotations

import fnmatch
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from holdfast.core import filters, hit_conditions
from holdfast.core.filters import Call, Filter
from holdfast.core.hit_conditions import HitCondition
from holdfast.core.signatures import NameCheck
from holdfast.model.call import CallBreakpoint, CallRecord, Function, When

_PATTERN = re.compile(r"[*?\[]")
_MAX_ERRORS = 20


def is_pattern(text: str) -> bool:
    return bool(_PATTERN.search(text))


def matches(wanted: str, name: str) -> bool:
    """Whether `wanted` is the name, or a pattern that fits it."""
    return name == wanted or (is_pattern(wanted) and fnmatch.fnmatchcase(name, wanted))


def list_names(function: Function) -> list[str]:
    """The names of a function: plain, qualified, and with its module."""
    names = [function.name]
    if function.qualname:
        names.append(function.qualname)
        if function.module:
            names.append(f"{function.module}.{function.qualname}")
    elif function.module:
        names.append(f"{function.module}.{function.name}")
    return names


def describe_point(point: CallBreakpoint) -> str:
    """What a breakpoint matches, in words: `Shop.price if item == 'tea'`."""
    words = [point.function or "any function"]
    if point.alias is not None:
        words.append(f"as {point.alias}")
    if point.call_type is not None:
        words.append(f"called {point.call_type}")
    if point.when is not When.BEFORE:
        words.append("after it" if point.when is When.AFTER else "on an exception")
    if point.condition is not None:
        words.append(f"if {point.condition}")
    if point.hit_condition is not None:
        words.append(f"on hits {point.hit_condition}")
    return " ".join(words)


@dataclass
class ArmedBreakpoint:
    """A call breakpoint with its parsed conditions and its counts."""

    point: CallBreakpoint
    hits: int = 0
    undecided: int = 0
    """How often the condition could not be decided."""
    message: str | None = None
    """Why the condition could not be decided, or the action not carried out, the last time."""
    undecided_because: Counter[str] = field(default_factory=Counter)
    """How often the condition could not be decided, by the reason."""
    name_check: NameCheck = field(init=False)
    condition: Filter | None = field(init=False)
    hit_condition: HitCondition | None = field(init=False)

    def __post_init__(self) -> None:
        condition, hits = self.point.condition, self.point.hit_condition
        self.condition = None if condition is None else filters.parse(condition)
        self.name_check = NameCheck(() if self.condition is None else self.condition.parameters)
        self.hit_condition = None if hits is None else hit_conditions.parse(hits)

    def note_undecided(self, why: str) -> None:
        self.undecided += 1
        self.message = why

    def concerns(self, function: Function) -> bool:
        """Whether it names this function, whatever else it asks for."""
        point = self.point
        if point.alias is not None and not matches(point.alias, function.alias or ""):
            return False
        wanted = point.function
        return wanted is None or any(matches(wanted, name) for name in list_names(function))

    def fits(self, call: CallRecord, when: When, names: list[str]) -> bool:
        """Whether everything but the condition fits. This is cheap."""
        point = self.point
        if not point.enabled or point.when is not when:
            return False
        if point.session_id is not None and point.session_id != call.session_id:
            return False
        if point.call_type is not None and point.call_type != call.call_type:
            return False
        if point.alias is not None and not matches(point.alias, call.function.alias or ""):
            return False
        return point.function is None or any(matches(point.function, name) for name in names)

    def list_condition_errors(self) -> dict[str, int]:
        """Why the condition has no answer, or probably never will, with the number of calls."""
        return {**self.name_check.list_problems(), **self.undecided_because}

    def count(self, is_hit: bool, why: str | None) -> bool:
        """Count a hit, and return whether the breakpoint acts.

        `why` is the reason if the condition could not be decided.
        """
        if why is not None:
            self.note_undecided(f"the condition could not be decided: {why}")
            if why in self.undecided_because or len(self.undecided_because) < _MAX_ERRORS:
                self.undecided_because[why] += 1
        if not is_hit:
            return False
        self.hits += 1
        return self.hit_condition is None or self.hit_condition.matches(self.hits)


def find_hit(
    breakpoints: Iterable[ArmedBreakpoint],
    call: CallRecord,
    when: When,
    values: Callable[[], Call],
) -> ArmedBreakpoint | None:
    """The first breakpoint that acts on this call. The hits of all that fit are counted.

    If `values` or a value raises, nothing is counted.
    """
    names = list_names(call.function)
    fitting = [armed for armed in breakpoints if armed.fits(call, when, names)]
    if not fitting:
        return None
    cached: list[Call] = []

    def get_values() -> Call:
        if not cached:
            cached.append(values())
        return cached[0]

    verdicts = [
        (True, None) if armed.condition is None else armed.condition.decide(get_values())
        for armed in fitting
    ]
    for armed in fitting:
        armed.name_check.look_at(call)
    acting = [
        armed for armed, verdict in zip(fitting, verdicts, strict=True) if armed.count(*verdict)
    ]
    return acting[0] if acting else None
