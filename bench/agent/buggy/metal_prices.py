"""Symptom: the highest price of tin is 312.0, and tin never cost more than 120."""

from __future__ import annotations

METALS = {"zinc": 96, "silver": 312, "tin": 110}


def make_feed(count: int) -> list[str]:
    lines = []
    for number in range(count):
        for name, base in METALS.items():
            lines.append(f"{name} {base - number % 9}")
    lines[3 * 135 + 2] = "tin n/a"
    return lines


def read_feed(lines: list[str]) -> tuple[dict[str, list[float]], int]:
    prices: dict[str, list[float]] = {name: [] for name in METALS}
    missing = 0
    for line in lines:
        name, _, text = line.partition(" ")
        try:
            price = float(text)
        except ValueError:
            missing += 1  # @bug
        prices[name].append(price)
    return prices, missing


def find_highest(lines: list[str], name: str) -> float:
    prices, _missing = read_feed(lines)
    return max(prices[name])


def main() -> None:
    lines = make_feed(300)
    highest = find_highest(lines, "tin")
    print(f"highest tin: {highest}")  # @symptom


if __name__ == "__main__":
    main()

# @fix: missing += 1
# @fix: continue
