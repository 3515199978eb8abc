"""Symptom: ZeroDivisionError in row 7431, after thousands of good rows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Entry:
    number: int
    amount: int
    parts: int


def make_rows(count: int) -> list[str]:
    rows = []
    for number in range(count):
        parts = "0x2" if number == 7_431 else str(1 + number % 3)
        rows.append(f"{number};{100 + number % 7};{parts}")
    return rows


def read_parts(text: str) -> int:
    digits = text
    if not text.isdigit():
        digits = text[:1]  # @bug
    return int(digits)


def read_entry(row: str) -> Entry:
    number, amount, parts = row.split(";")
    return Entry(int(number), int(amount), read_parts(parts))


def add_shares(rows: list[str]) -> float:
    total = 0.0
    for row in rows:
        entry = read_entry(row)
        total += entry.amount / entry.parts  # @symptom
    return total


def main() -> None:
    rows = make_rows(9_000)
    total = add_shares(rows)
    print(f"total {total:.2f}")


if __name__ == "__main__":
    main()

# @fix: digits = str(int(text, 16))
