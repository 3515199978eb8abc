"""Hit conditions, which say on which of its hits a breakpoint stops.

    N   == N   > N   >= N   < N   <= N   % N

A plain N is `== N`, and `% N` is every Nth hit. Hits count from 1.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from holdfast.errors import InvalidHitCondition

# At most fifteen digits: no program counts further, and longer numbers are slow to print.
_GRAMMAR = re.compile(r"\s*(==|>=|<=|>|<|%)?\s*([0-9]{1,15})\s*")

_TESTS: Mapping[str, Callable[[int, int], bool]] = {
    "==": operator.eq,
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "%": lambda hits, count: hits % count == 0,
}


@dataclass(frozen=True)
class HitCondition:
    op: str
    count: int

    def matches(self, hits: int) -> bool:
        """Whether to stop on the hit with this number."""
        return _TESTS[self.op](hits, self.count)

    def __str__(self) -> str:
        return f"{self.op} {self.count}"


def parse(text: str | int) -> HitCondition:
    # A bool is an int in Python, but not a count.
    match = None if isinstance(text, bool) else _GRAMMAR.fullmatch(str(text))
    if match is None:
        raise InvalidHitCondition(f"not a hit condition: {text!r}", hit_condition=text)
    condition = HitCondition(op=match[1] or "==", count=int(match[2]))
    if condition == HitCondition("%", 0):
        raise InvalidHitCondition("a hit condition of `% 0` divides by zero", hit_condition=text)
    return condition
