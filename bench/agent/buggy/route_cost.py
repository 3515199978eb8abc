"""Symptom: TypeError, because the toll of a leg is None."""

from __future__ import annotations

from typing import Any

TOLLS = {("a", "b"): 4, ("b", "c"): 7, ("d", "c"): 9}


def find_toll(start: str, end: str) -> Any:
    toll = TOLLS.get((start, end))  # @bug
    return toll


def list_legs(route: str) -> list[tuple[str, str]]:
    legs = []
    for start, end in zip(route, route[1:]):
        legs.append((start, end))
    return legs


def price_legs(legs: list[tuple[str, str]]) -> list[Any]:
    tolls = []
    for start, end in legs:
        tolls.append(find_toll(start, end))
    return tolls


def add_up(tolls: list[Any]) -> int:
    total = 0
    for value in tolls:
        total += value  # @symptom
    return total


def main() -> None:
    legs = list_legs("abcd")
    tolls = price_legs(legs)
    total = add_up(tolls)
    print(f"total {total}")


if __name__ == "__main__":
    main()

# @fix: toll = TOLLS.get((start, end)) or TOLLS[end, start]
