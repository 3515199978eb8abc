"""Payments of a day, read from a file and settled in euros.

The bank expects 20122.85 euros, and this prints 20143.29. No line of it looks wrong. Why?
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable

RATES = {"EUR": 1.0, "USD": 0.92, "GBP": 1.17}


def convert(amount: float, rate: float) -> float:
    return round(amount * rate, 2)


def settle(payments: Iterable[list[str]]) -> float:
    total = 0.0
    rate = 1.0
    for _number, amount, currency in payments:
        if currency in RATES:
            rate = RATES[currency]
        euros = convert(float(amount), rate)
        total += euros
    return round(total, 2)


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        total = settle(csv.reader(file))
    print("to settle:", total)


if __name__ == "__main__":
    main()
