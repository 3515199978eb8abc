"""Symptom: the parcel of exactly 5 kg costs 1190, and the price list says 790."""

from __future__ import annotations

from dataclasses import dataclass

BANDS = [(2.0, 490), (5.0, 790), (10.0, 1190), (31.5, 1990)]


@dataclass
class Parcel:
    name: str
    grams: int


def find_rate(weight: float) -> int:
    for limit, rate in BANDS:
        if weight < limit:  # @bug
            return rate
    raise ValueError(f"{weight} kg is too heavy")


def price(parcel: Parcel) -> int:
    kilos = parcel.grams / 1000
    cents = find_rate(kilos)
    return cents


def main() -> None:
    parcels = [Parcel("book", 900), Parcel("shoes", 1800), Parcel("lamp", 5000)]
    prices = {}
    for parcel in parcels:
        prices[parcel.name] = price(parcel)
    cost = prices["lamp"]
    print(f"lamp: {cost}")  # @symptom


if __name__ == "__main__":
    main()

# @fix: if weight <= limit:
