"""Symptom: after two bookings the hall counts four taken seats."""

from __future__ import annotations


def build_plan(rows: int, seats: int) -> list[list[str]]:
    row = ["."] * seats
    plan = [row] * rows  # @bug
    return plan


def book(plan: list[list[str]], row: int, seat: int) -> None:
    line = plan[row]
    if line[seat] == ".":
        line[seat] = "x"


def count_taken(plan: list[list[str]]) -> int:
    taken = 0
    for line in plan:
        taken += line.count("x")
    return taken


def main() -> None:
    plan = build_plan(2, 3)
    book(plan, 0, 1)
    book(plan, 1, 2)
    taken = count_taken(plan)
    print(f"taken: {taken}")  # @symptom


if __name__ == "__main__":
    main()

# @fix: plan = [list(row) for _ in range(rows)]
