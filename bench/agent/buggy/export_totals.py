"""Symptom: the report counts four rows and a total of 0."""

from __future__ import annotations

from collections.abc import Iterator

LINES = ["pens;12", "ink;30", "paper;55", "glue;8"]


def parse(lines: list[str]) -> Iterator[tuple[str, int]]:
    for line in lines:
        name, amount = line.split(";")
        yield name, int(amount)


def summarize(lines: list[str]) -> tuple[int, int]:
    rows = parse(lines)  # @bug
    count = sum(1 for _ in rows)
    total = 0
    for _name, amount in rows:
        total += amount
    return count, total


def main() -> None:
    count, total = summarize(LINES)
    print(f"{count} rows, total {total}")  # @symptom


if __name__ == "__main__":
    main()

# @fix: rows = list(parse(lines))
