"""Sums up a cart, in several ways to end."""

import sys

RATE = 0


def price(item, count):
    """What so many of an item cost."""
    cost = {"tea": 3, "cake": 6}[item] * count  # @cost
    return cost  # @return


def checkout(cart):
    total = 0
    for item, count in cart:
        total += price(item, count)  # @add
    return total  # @total


def raise_rate():
    global RATE
    for _ in range(3):
        RATE += 10  # @rate


if __name__ == "__main__":
    how = sys.argv[1] if len(sys.argv) > 1 else ""
    if how == "ask":
        how = input("how? ")
    raise_rate()
    print("total", checkout([("tea", 2), ("cake", 1), ("tea", 3)]))  # @print
    if how == "fail":
        checkout([("beer", 1)])  # @fail
    if how == "forever":
        while True:
            pass
    if how == "never":
        price("tea", 0)  # @never
