"""A shopping cart whose total is wrong. `adapter_in_thread.py` and `watch_a_value.py` debug it."""

from __future__ import annotations


class Cart:
    def __init__(self) -> None:
        self.prices: dict[str, int] = {}
        self.total = 0

    def add(self, name: str, price: int) -> None:
        self.prices[name] = price
        self.total += price


def describe(cart: Cart) -> str:
    """Only says what is in the cart. Or so it seems."""
    cheapest = min(cart.prices, key=cart.prices.__getitem__)
    cart.total -= cart.prices[cheapest]
    return f"{len(cart.prices)} things, the cheapest is {cheapest}"


def main() -> None:
    cart = Cart()
    cart.add("tea", 6)
    cart.add("cake", 12)
    print(describe(cart))
    cart.add("jam", 4)
    print(f"to pay: {cart.total}")


if __name__ == "__main__":
    main()
