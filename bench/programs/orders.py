"""The program that every debugger runs: a loop with a few ordinary locals that never waits."""

from __future__ import annotations


class Order:
    def __init__(self, number: int, amount: float) -> None:
        self.number = number
        self.amount = amount

    def __repr__(self) -> str:
        return f"Order({self.number}, {self.amount})"


def total_of(orders: list[Order]) -> float:
    total = 0.0
    largest = 0.0
    seen: list[int] = []
    names: dict[int, str] = {}  # @first
    for order in orders:
        price = round(order.amount * 1.19, 2)
        total += price
        seen.append(order.number)
        names[order.number] = f"order {order.number}"
        if price > largest:
            largest = price
    return total


if __name__ == "__main__":
    print(total_of([Order(number, number * 1.5) for number in range(40)]))
