"""Symptom: the south sold 165, and its rows add up to 75."""

from __future__ import annotations

SALES = [("north", 40), ("north", 50), ("south", 30), ("south", 45), ("west", 5)]


def add_by_region(sales: list[tuple[str, int]]) -> dict[str, int]:
    sums: dict[str, int] = {}
    current = sales[0][0]
    subtotal = 0
    for region, amount in sales:
        if region != current:
            sums[current] = subtotal
            current = region  # @bug
        subtotal += amount
    sums[current] = subtotal
    return sums


def find_sum(region: str) -> int:
    sums = add_by_region(SALES)
    return sums[region]


def main() -> None:
    south = find_sum("south")
    print(f"south: {south}")  # @symptom


if __name__ == "__main__":
    main()

# @fix: current, subtotal = region, 0
