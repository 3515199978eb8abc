"""Two hot loops with a line for a breakpoint each, and the time of one iteration.

The time is the thread's processor time, so that other load does not count. The best of as many runs
as the first argument says counts.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

ITERATIONS = 10_000
RUNS = int(sys.argv[1])


def conditional() -> int:
    total = 0
    for number in range(ITERATIONS):
        total += number  # @conditional
    return total


def counted() -> int:
    total = 0
    for number in range(ITERATIONS):
        total += number  # @counted
    return total


def microseconds(loop: Callable[[], int]) -> float:
    taken = []
    for _ in range(RUNS):
        start = time.thread_time()
        loop()
        taken.append(time.thread_time() - start)
    return min(taken) / ITERATIONS * 1e6


if __name__ == "__main__":
    costs: list[float] = []  # @begin
    costs += [microseconds(conditional), microseconds(counted)]
    print(costs)  # @done
