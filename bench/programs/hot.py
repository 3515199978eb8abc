"""Two hot loops, of which a debugger may watch a line each, and what a pass through them takes.

Time is the thread's own, so that other work on the machine does not show; the best of a few runs
counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable

PASSES = 10_000
RUNS = 5


def conditional() -> int:
    total = 0
    for number in range(PASSES):
        total += number  # @conditional
    return total


def counted() -> int:
    total = 0
    for number in range(PASSES):
        total += number  # @counted
    return total


def microseconds(loop: Callable[[], int]) -> float:
    taken = []
    for _ in range(RUNS):
        began = time.thread_time()
        loop()
        taken.append(time.thread_time() - began)
    return min(taken) / PASSES * 1e6


if __name__ == "__main__":
    costs: list[float] = []  # @begin
    costs += [microseconds(conditional), microseconds(counted)]
    print(costs)  # @done
