"""Loops for ever, at the depth of its first argument, after writing MBs of output (its second)."""

from __future__ import annotations

import sys


def loop() -> None:
    number = total = 0
    while True:  # @loop
        number += 1  # @add
        total += number  # @total


def recurse(depth: int) -> None:
    if depth > 0:
        recurse(depth - 1)
    else:
        loop()


def main(depth: int = 0, megabytes: int = 0) -> None:
    line = "x" * 99 + "\n"
    for _ in range(megabytes * 10_000):
        sys.stdout.write(line)
    sys.setrecursionlimit(depth + 1000)
    recurse(depth)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
