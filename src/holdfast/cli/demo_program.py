"""A small shop. Members pay 10 % less, and 15 % less for an order above 100.

Carol, a member, orders for 60.00 and should pay 54.00. She is asked for 51.00. Why?
"""

from __future__ import annotations

OFFERS = {"member": {"percent": 10}, "guest": {"percent": 0}}
ORDERS = [("ann", "member", 80.0), ("ben", "member", 150.0), ("carol", "member", 60.0)]


def discount(customer: str, level: str, amount: float) -> float:
    offer = OFFERS[level]
    if amount > 100:
        offer["percent"] += 5
    return amount * offer["percent"] / 100


def main() -> None:
    for customer, level, amount in ORDERS:
        total = amount - discount(customer, level, amount)
        print(f"{customer:6} pays {total:6.2f}")


if __name__ == "__main__":
    main()
