"""What the calls of the benchmark call: it must be importable, as an application's code is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def add(left: int, right: int) -> int:
    return left + right


def last(items: list[int]) -> int:
    return items[-1]


def deep(frames: int, work: Callable[[], T]) -> T:
    """`work`, called from so many frames further down."""
    return work() if frames == 0 else deep(frames - 1, work)
