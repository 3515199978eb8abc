"""Symptom: the balance ends at 12011, and the bank says 12002."""

from __future__ import annotations

FEES = {"card": 1, "cash": 0, "wire": 9}


def list_bookings(count: int) -> list[str]:
    bookings = []
    for number in range(count):
        kind = "wire " if number == 3_210 else ("card", "cash")[number % 2]
        amount = 3 if number % 4 else 2
        bookings.append(f"{number};{kind};{amount}")
    return bookings


def find_fee(name: str) -> int:
    fee = FEES.get(name, 0)  # @bug
    return fee


def apply(balance: int, booking: str) -> int:
    _number, kind, amount = booking.split(";")
    fee = find_fee(kind)
    return balance + int(amount) - fee


def run(bookings: list[str]) -> int:
    balance = 2_010
    for booking in bookings:
        balance = apply(balance, booking)
    return balance


def main() -> None:
    bookings = list_bookings(4_445)
    balance = run(bookings)
    print(f"balance {balance}")  # @symptom


if __name__ == "__main__":
    main()

# @fix: fee = FEES.get(name.strip(), 0)
