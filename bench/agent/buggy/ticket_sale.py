"""Symptom: after ann took 3 of 10 seats, ben 4 and cleo 2, there are 8 left."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass


@dataclass
class Hall:
    name: str
    free: int


async def pay(buyer: str) -> None:
    for _ in range(len(buyer)):
        await asyncio.sleep(0)


async def reserve(hall: Hall, buyer: str, count: int) -> bool:
    left = hall.free
    if left < count:
        return False
    await pay(buyer)
    hall.free = left - count  # @bug
    return True


async def sell(hall: Hall, orders: dict[str, int]) -> None:
    tasks = [reserve(hall, buyer, count) for buyer, count in orders.items()]
    await asyncio.gather(*tasks)


def run_sale(seats: int, orders: dict[str, int]) -> int:
    hall = Hall("opera", seats)
    asyncio.run(sell(hall, orders))
    return hall.free


def main() -> None:
    free = run_sale(10, {"ann": 3, "ben": 4, "cleo": 2})
    print(f"seats left: {free}")  # @symptom


if __name__ == "__main__":
    main()

# @fix: hall.free -= count
