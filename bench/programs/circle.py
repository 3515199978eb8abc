"""Goes in a circle, for as long as somebody steps; first as deep, and as loud, as it is told."""

from __future__ import annotations

import sys


def circle() -> None:
    number = total = 0
    while True:  # @loop
        number += 1  # @add
        total += number  # @total


def deep(depth: int) -> None:
    if depth > 0:
        deep(depth - 1)
    else:
        circle()


def main(depth: int = 0, megabytes: int = 0) -> None:
    line = "x" * 99 + "\n"
    for _ in range(megabytes * 10_000):
        sys.stdout.write(line)
    sys.setrecursionlimit(depth + 1000)
    deep(depth)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
