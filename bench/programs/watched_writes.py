"""Writes to an attribute, a dict's item, a global and a local, and code that writes none of them.

Each loop is timed three times: before any stop, after a stop, and after another one at which a
debugger may begin to watch what the loops write. (A debugger that shows an object reads its
`__dict__`, which alone makes later writes to it slower.) The time is the thread's processor time;
the best of as many runs as the first argument says counts.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable

TURNS = 20_000
RUNS = int(sys.argv[1])


class Counter:
    def __init__(self) -> None:
        self.value = 0


counter = Counter()
other = Counter()
items = {"key": 0}
total = 0


def write_attribute() -> None:
    for number in range(TURNS):
        counter.value = number


def write_item() -> None:
    for number in range(TURNS):
        items["key"] = number


def write_global() -> None:
    global total
    for number in range(TURNS):
        total = number


def write_nothing_watched() -> None:
    for number in range(TURNS):
        other.value = number


def call_nothing_watched() -> int:
    result = 0
    for number in range(TURNS):
        result = max(result, number)
    return result


LOOPS: list[Callable[[], object]] = [
    write_attribute,
    write_item,
    write_global,
    write_nothing_watched,
    call_nothing_watched,
]


def measure_nanoseconds(loop: Callable[[], object]) -> float:
    taken = []
    for _ in range(RUNS):
        start = time.thread_time()
        loop()
        taken.append(time.thread_time() - start)
    return min(taken) / TURNS * 1e9


def measure_all() -> list[float]:
    return [measure_nanoseconds(loop) for loop in LOOPS]


if __name__ == "__main__":
    results = [measure_all()]
    results.append(measure_all())  # @looked
    results.append(measure_all())  # @ready
    print(json.dumps(results))
