"""A function that counts, many frames deep: `deep_stack.py FRAMES`."""

from __future__ import annotations

import sys


def count(limit: int) -> int:
    number = 0
    name, items = "counter", list(range(10))
    while number < limit:
        number += 1  # @count
    return number + len(name) + len(items)


def descend(depth: int) -> int:
    if depth <= 1:
        return count(100)
    return descend(depth - 1)


if __name__ == "__main__":
    print(descend(int(sys.argv[1])))
