"""Symptom: a member pays 3250 of 5000, and members pay 80 percent."""

from __future__ import annotations

from collections.abc import Callable

RATES = {"member": 80, "guest": 100, "partner": 65}
Rule = Callable[[int], int]


def build_rules() -> dict[str, Rule]:
    rules: dict[str, Rule] = {}
    for group, rate in RATES.items():
        rules[group] = lambda cents: cents * rate // 100  # @bug
    return rules


def price_for(rules: dict[str, Rule], group: str, cents: int) -> int:
    rule = rules[group]
    price = rule(cents)
    return price


def main() -> None:
    rules = build_rules()
    price = price_for(rules, "member", 5000)
    print(f"member pays {price}")  # @symptom


if __name__ == "__main__":
    main()

# @fix: rules[group] = lambda cents, rate=rate: cents * rate // 100
