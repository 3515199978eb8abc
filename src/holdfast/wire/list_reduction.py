"""Makes the list of an answer shorter, step by step, and says how many are left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

_Item = TypeVar("_Item")


def list_shorter(items: Sequence[_Item]) -> Iterator[tuple[list[_Item], int]]:
    """The first of the items, fewer each time, and how many are left out. The last are none."""
    count = len(items)
    while count > 0:
        count = min(count - 1, count * 7 // 8)
        yield list(items[:count]), len(items) - count
