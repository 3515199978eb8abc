"""A stop with locals of many megabytes."""

from __future__ import annotations


def load() -> int:
    rows = [{"id": number, "text": "x" * 50} for number in range(100_000)]
    text = "lorem ipsum " * 1_000_000
    index = {f"key {number}": [number] * 10 for number in range(50_000)}
    matrix = [[column * row for column in range(1_000)] for row in range(500)]
    return len(rows) + len(text) + len(index) + len(matrix)  # @huge


if __name__ == "__main__":
    print(load())
