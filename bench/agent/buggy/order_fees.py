"""Symptom: an express order abroad costs 5900, without the fees for packing and customs."""

from __future__ import annotations

Fees = list[tuple[str, int]]


class Order:
    def __init__(self, cents: int, country: str) -> None:
        self.cents = cents
        self.country = country

    def list_fees(self) -> Fees:
        costs = [("packing", 150)]
        if self.country != "de":
            costs.append(("customs", 1200))
        return costs


class ExpressOrder(Order):
    def list_fees(self) -> Fees:
        fees: Fees = []  # @bug
        fees.append(("express", 900))
        return fees


def find_price(order: Order) -> int:
    price = order.cents
    for _name, cents in order.list_fees():
        price += cents
    return price


def read_order(line: str) -> Order:
    kind, cents, country = line.split(";")
    made = ExpressOrder if kind == "express" else Order
    return made(int(cents), country)


def main() -> None:
    prices = []
    for line in ("normal;2000;de", "normal;800;ch", "express;5000;ch"):
        order = read_order(line)
        prices.append(find_price(order))
    last = prices[-1]
    print(f"express order: {last}")  # @symptom


if __name__ == "__main__":
    main()

# @fix: fees = super().list_fees()
