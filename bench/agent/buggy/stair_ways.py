"""Symptom: a stair of 4 steps can be climbed in 17 ways, and by hand there are 7."""

from __future__ import annotations


def count_ways(left: int, strides: tuple[int, ...]) -> int:
    if left <= 0:
        ways = 1  # @bug
        return ways
    ways = 0
    for stride in strides:
        ways += count_ways(left - stride, strides)
    return ways


def describe(steps: int) -> str:
    ways = count_ways(steps, (1, 2, 3))
    return f"{steps} steps: {ways} ways"


def main() -> None:
    text = describe(4)
    print(text)  # @symptom


if __name__ == "__main__":
    main()

# @fix: ways = 1 if left == 0 else 0
