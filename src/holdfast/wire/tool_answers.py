"""What every answer of a tool can do: be text, and become smaller until it fits its budget.

A client shows its model either the text or the structured answer, so each is complete by itself and
each fits. One token is counted as four bytes of the larger of the two.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from holdfast.wire import rest

if TYPE_CHECKING:
    from typing_extensions import Self  # in `typing` from Python 3.11 on

BYTES_PER_TOKEN = 4


class ToolAnswer(msgspec.Struct, kw_only=True):
    """An answer of a tool."""

    def to_text(self) -> str:
        """The whole answer as plain text."""
        raise NotImplementedError

    def list_reductions(self) -> Iterable[Self]:
        """The same answer, smaller each time. The last one is as small as it can be.

        Each says what is left out, and how to see it. A sequence may make them when asked: few of
        them are looked at."""
        return [self]


@dataclass(frozen=True, slots=True)
class ToolResult:
    """An answer that fits its budget, and its text."""

    answer: ToolAnswer
    text: str


def fit(answer: ToolAnswer, budget_tokens: int | None) -> ToolResult:
    """The largest form of an answer that fits; None: the whole answer."""
    if budget_tokens is None:
        return ToolResult(answer, _render(answer))
    limit = budget_tokens * BYTES_PER_TOKEN
    result = _measure(answer, limit)
    if result is not None:
        return result
    reductions = answer.list_reductions()
    if isinstance(reductions, Sequence):
        reductions = _skip_large(reductions, limit)
    smallest = answer
    for smallest in reductions:
        result = _measure(smallest, limit)
        if result is not None:
            return result
    return ToolResult(smallest, _render(smallest))


def _skip_large(reductions: Sequence[ToolAnswer], limit: int) -> Iterator[ToolAnswer]:
    """Those from the first one on that fits, found by halves.

    One that is smaller in all may be a little larger in one form, so the others follow."""
    low, high = 0, len(reductions) - 1
    while low < high:
        middle = (low + high) // 2
        if _measure(reductions[middle], limit) is None:
            low = middle + 1
        else:
            high = middle
    return (reductions[index] for index in range(low, len(reductions)))


def _render(answer: ToolAnswer) -> str:
    """Its text; half characters, which cannot be sent, are escaped."""
    return answer.to_text().encode("utf-8", "backslashreplace").decode()


def _measure(answer: ToolAnswer, limit: int) -> ToolResult | None:
    if len(rest.encode(answer)) > limit:
        return None
    text = _render(answer)
    return ToolResult(answer, text) if len(text.encode()) <= limit else None
