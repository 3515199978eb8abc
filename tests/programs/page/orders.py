"""A report with a bug: the discount of an order is applied twice."""

import sys
from dataclasses import dataclass, field


@dataclass
class Line:
    name: str
    price: float
    count: int = 1


@dataclass
class Order:
    number: int
    lines: list = field(default_factory=list)
    discount: float = 0.0

    def total(self) -> float:
        amount = 0.0
        for line in self.lines:
            amount += line.price * line.count
        return amount * (1 - self.discount)


def report(orders: list) -> dict:
    totals = {}
    for order in orders:
        value = order.total()
        if order.discount:  # @discount
            value = value * (1 - order.discount)
        totals[order.number] = round(value, 2)
        print(f"order {order.number}: {totals[order.number]:.2f}")  # @print
    return totals


def main() -> None:
    orders = [
        Order(1, [Line("tea", 3.5, 2), Line("cake", 4.0)]),
        Order(2, [Line("coffee", 2.5, 4)], discount=0.1),
        Order(3, [Line("soup", 6.0), Line("bread", 1.2, 3)], discount=0.25),
    ]
    totals = report(orders)
    print("sum", sum(totals.values()), file=sys.stderr)


if __name__ == "__main__":
    main()
