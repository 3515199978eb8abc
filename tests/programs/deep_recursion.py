"""Calls itself two thousand times."""

import sys

sys.setrecursionlimit(10_000)


def dive(depth):
    if depth == 2000:
        return 0  # @bottom
    return dive(depth + 1) + 1  # @dive


print(dive(1))  # @start
