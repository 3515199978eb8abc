"""Symptom: the pickup is planned with 51 litres for 400 km, and it takes 31."""

from __future__ import annotations

from dataclasses import dataclass

KM_PER_MILE = 1.609
LITRES_PER_GALLON = 3.785


@dataclass
class Car:
    name: str
    use: float
    unit: str


def read_car(line: str) -> Car:
    name, use, unit = line.split()
    return Car(name, float(use), unit)


def find_use(car: Car) -> float:
    """Litres for 100 km."""
    if car.unit == "mpg":
        litres = car.use * KM_PER_MILE / LITRES_PER_GALLON  # @bug
        return litres
    return car.use


def plan_fuel(car: Car, distance: int) -> int:
    litres = find_use(car) * distance / 100
    return round(litres)


def plan_trip(lines: list[str], distance: int) -> dict[str, int]:
    fuel = {}
    for line in lines:
        car = read_car(line)
        fuel[car.name] = plan_fuel(car, distance)
    return fuel


def main() -> None:
    fuel = plan_trip(["van 9.5 l", "mini 5.2 l", "pickup 30 mpg"], 400)
    needed = fuel["pickup"]
    print(f"pickup: {needed} litres")  # @symptom


if __name__ == "__main__":
    main()

# @fix: litres = 100 * LITRES_PER_GALLON / (car.use * KM_PER_MILE)
