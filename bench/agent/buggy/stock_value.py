"""Symptom: the stock is worth 1760, and by hand it is 13080."""

from __future__ import annotations

from typing import Any

RECORDS: list[dict[str, Any]] = [
    {"sku": "A1", "price": 120, "quantity": 10},
    {"sku": "B2", "price": 340, "quantity": 12},
    {"sku": "C3", "price": 1300, "quantity": 6},
]


def read_record(record: dict[str, Any]) -> tuple[int, int]:
    price = record["price"]
    count = record.get("qty", 1)  # @bug
    return price, count


def value_stock(records: list[dict[str, Any]]) -> int:
    total = 0
    for record in records:
        price, count = read_record(record)
        total += price * count
    return total


def main() -> None:
    total = value_stock(RECORDS)
    print(f"worth {total}")  # @symptom


if __name__ == "__main__":
    main()

# @fix: count = record.get("quantity", 1)
