"""A loop with a few ordinary locals, for the scenario."""

from __future__ import annotations


def total_of(prices: list[float], customer: str) -> float:
    total = 0.0
    discount = 0.1 if customer.startswith("m") else 0.0
    seen: list[float] = []
    for price in prices:
        reduced = round(price * (1 - discount), 2)  # @each
        total += reduced
        seen.append(price)
        if total > 100:
            discount = 0.15
    return total


if __name__ == "__main__":
    print(total_of([12.5, 40.0, 7.25, 60.0, 3.0], "maria"))
