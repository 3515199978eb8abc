"""Symptom: the lowest use of a day is -99989, and a meter never runs backwards."""

from __future__ import annotations

WRAP = 100_000


def read_meter(days: int) -> list[int]:
    readings = []
    value = 10_820
    for day in range(days):
        value += 10 + day % 5
        readings.append(value % WRAP)
    return readings


def find_uses(readings: list[int]) -> list[int]:
    uses = []
    previous = readings[0]
    for reading in readings[1:]:
        used = reading - previous  # @bug
        uses.append(used)
        previous = reading
    return uses


def main() -> None:
    readings = read_meter(9_000)
    uses = find_uses(readings)
    lowest = min(uses)
    print(f"lowest: {lowest}")  # @symptom


if __name__ == "__main__":
    main()

# @fix: used = (reading - previous) % WRAP
