"""Symptom: the empty basket of bob costs 450."""

from __future__ import annotations

PRICES = {"tea": 450, "rice": 220}


class Basket:
    items: list[str] = []  # @bug

    def __init__(self, owner: str) -> None:
        self.owner = owner

    def put(self, item: str) -> None:
        self.items.append(item)

    def cost(self) -> int:
        items = self.items
        cents = 0
        for item in items:
            cents += PRICES[item]
        return cents


def main() -> None:
    alice = Basket("alice")
    bob = Basket("bob")
    alice.put("tea")
    cost = bob.cost()
    print(f"{alice.owner}: {alice.cost()}, {bob.owner}: {cost}")  # @symptom


if __name__ == "__main__":
    main()

# @fix: def __new__(cls, owner: str) -> Basket:
# @fix:     basket = super().__new__(cls)
# @fix:     basket.items = []
# @fix:     return basket
