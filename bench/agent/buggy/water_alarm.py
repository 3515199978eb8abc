"""Symptom: the alarm comes at minute 251, and the water was above 400 at minute 250."""

from __future__ import annotations

SPAN = 3
LIMIT = 400


def read_levels(count: int) -> list[int]:
    levels = []
    for number in range(count):
        level = 40 + number // 4 + number % 3
        if 250 <= number < 260:
            level += 390
        levels.append(level)
    return levels


def find_peak(levels: list[int], minute: int) -> int:
    window = levels[minute - SPAN : minute]  # @bug
    return max(window)


def find_alarm(levels: list[int]) -> int:
    for minute in range(SPAN, len(levels)):
        peak = find_peak(levels, minute)
        if peak > LIMIT:
            return minute
    return -1


def watch(count: int) -> int:
    levels = read_levels(count)
    return find_alarm(levels)


def main() -> None:
    alarm = watch(600)
    print(f"alarm at minute {alarm}")  # @symptom


if __name__ == "__main__":
    main()

# @fix: window = levels[minute - SPAN + 1 : minute + 1]
