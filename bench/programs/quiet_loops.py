"""Loops that no breakpoint concerns: calls, generators and plain lines, and the time of one turn.

The time is the thread's processor time, so that other load does not count. The best of as many runs
as the first argument says counts.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator

TURNS = 20_000
RUNS = int(sys.argv[1])


def add(total: int, number: int) -> int:
    return total + number


def calls() -> int:
    total = 0
    for number in range(TURNS):
        total = add(total, number)
    return total


def count() -> Iterator[int]:
    number = 0
    while number < TURNS:
        yield number
        number += 1


def generators() -> int:
    total = 0
    for number in count():
        total += number
    return total


def lines() -> int:
    total = 0
    number = 0
    while number < TURNS:
        total += number
        number += 1
    return total


def never_called() -> None:
    print("never")  # @elsewhere


def nanoseconds(loop: Callable[[], int]) -> float:
    taken = []
    for _ in range(RUNS):
        start = time.thread_time()
        loop()
        taken.append(time.thread_time() - start)
    return min(taken) / TURNS * 1e9


if __name__ == "__main__":
    print([nanoseconds(loop) for loop in (calls, generators, lines)])
