"""Symptom: the second order carries the tag of the first one."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Order:
    key: int
    labels: list[str]


def tag_order(number: int, weight: int, tags: list[str] = []) -> Order:  # @bug
    if weight > 20:
        tags.append("heavy")
    if number % 2:
        tags.append("odd")
    return Order(number, tags)


def describe(order: Order) -> str:
    return f"{order.key}: {', '.join(order.labels) or 'plain'}"


def main() -> None:
    first = tag_order(7, 30)
    second = tag_order(8, 4)
    text = describe(second)
    print(describe(first))
    print(text)  # @symptom


if __name__ == "__main__":
    main()

# @fix: def tag_order(number: int, weight: int) -> Order:
# @fix:     tags: list[str] = []
