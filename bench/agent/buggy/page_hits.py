"""Symptom: the page /shop has 199 hits, and the log has 200 of them."""

from __future__ import annotations

import re
from collections import Counter

PATHS = ("/", "/shop", "/help")


def make_log(count: int) -> list[str]:
    lines = []
    for number in range(count):
        path = PATHS[number % 3]
        source = " from [/mail]" if number == 424 else ""
        lines.append(f"{number} GET [{path}]{source}")
    return lines


def read_path(line: str) -> str:
    match = re.search(r"\[(.*)\]", line)  # @bug
    path = match[1] if match else ""
    return path


def count_hits(lines: list[str]) -> Counter[str]:
    hits: Counter[str] = Counter()
    for line in lines:
        page = read_path(line)
        hits[page] += 1
    return hits


def main() -> None:
    lines = make_log(600)
    hits = count_hits(lines)
    shop = hits["/shop"]
    print(f"/shop: {shop} hits")  # @symptom


if __name__ == "__main__":
    main()

# @fix: match = re.search(r"\[(.*?)\]", line)
