"""Symptom: a contract over the years 1899 to 1901 has 1096 days, and it has 1095."""

from __future__ import annotations

MONTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def is_leap(year: int) -> bool:
    leap = year % 4 == 0  # @bug
    return leap


def count_month(year: int, month: int) -> int:
    days = MONTHS[month]
    if month == 1 and is_leap(year):
        days += 1
    return days


def count_year(year: int) -> int:
    days = 0
    for month in range(12):
        days += count_month(year, month)
    return days


def count_span(first: int, last: int) -> int:
    total = 0
    for year in range(first, last + 1):
        total += count_year(year)
    return total


def describe_contract(first: int, last: int) -> str:
    days = count_span(first, last)
    return f"{first}-{last}: {days} days"


def main() -> None:
    text = describe_contract(1899, 1901)
    print(text)  # @symptom


if __name__ == "__main__":
    main()

# @fix: leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
