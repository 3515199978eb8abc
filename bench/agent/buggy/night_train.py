"""Symptom: the train from 22:30 (UTC+2) to 06:15 (UTC+0) takes 345 minutes, not 585."""

from __future__ import annotations

ZONES = {"athens": 2, "london": 0, "lisbon": 0, "sofia": 2}


def read_clock(text: str) -> int:
    hours, minutes = text.split(":")
    return int(hours) * 60 + int(minutes)


def to_utc(text: str, town: str) -> int:
    local = read_clock(text)
    utc = local + ZONES[town] * 60  # @bug
    return utc


def measure_trip(start: tuple[str, str], end: tuple[str, str]) -> int:
    departs = to_utc(*start)
    arrives = to_utc(*end)
    if arrives < departs:
        arrives += 24 * 60
    return arrives - departs


def main() -> None:
    minutes = measure_trip(("22:30", "athens"), ("06:15", "london"))
    print(f"{minutes} minutes")  # @symptom


if __name__ == "__main__":
    main()

# @fix: utc = local - ZONES[town] * 60
