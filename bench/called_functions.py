"""Functions that the benchmarks of calls wrap. They are importable, like an application's code."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def add(left: int, right: int) -> int:
    return left + right


def last(items: list[int]) -> int:
    return items[-1]


def call_in_depth(frames: int, work: Callable[[], T]) -> T:
    """Call `work` with this number of additional frames on the stack."""
    return work() if frames == 0 else call_in_depth(frames - 1, work)
