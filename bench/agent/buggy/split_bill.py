"""Symptom: four guests share 1030 and pay 1028 together."""

from __future__ import annotations


def split(cents: int, guests: int) -> list[int]:
    share = cents // guests  # @bug
    shares = [share] * guests
    return shares


def add_tip(shares: list[int], tip: int) -> list[int]:
    return [share + tip for share in shares]


def settle(cents: int, guests: int) -> int:
    shares = split(cents, guests)
    shares = add_tip(shares, 0)
    paid = sum(shares)
    return paid


def main() -> None:
    paid = settle(1030, 4)
    print(f"paid {paid}")  # @symptom


if __name__ == "__main__":
    main()

# @fix: share = cents / guests
