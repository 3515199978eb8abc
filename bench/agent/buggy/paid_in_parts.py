"""Symptom: a bill of 0.8 that was paid in eight parts of 0.1 stays open."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Bill:
    due: float
    parts: list[float] = field(default_factory=list)


def add_payments(bill: Bill, amount: float, times: int) -> None:
    for _ in range(times):
        bill.parts.append(amount)


def sum_parts(bill: Bill) -> float:
    paid = 0.0
    for part in bill.parts:
        paid += part  # @bug
    return paid


def find_state(bill: Bill) -> str:
    paid = sum_parts(bill)
    return "settled" if paid == bill.due else "open"


def main() -> None:
    bill = Bill(0.8)
    add_payments(bill, 0.1, 8)
    state = find_state(bill)
    print(f"bill is {state}")  # @symptom


if __name__ == "__main__":
    main()

# @fix: paid = round(paid + part, 2)
