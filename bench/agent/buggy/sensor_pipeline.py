"""Symptom: the alarm for sensor s4 comes with a mean of 42.75, and no reading is above 40 °C."""

from __future__ import annotations

from collections.abc import Iterator

RAW = "s1:20 s4:21 s2:19 s4:f101 s3:30 s4:c25 s1:22 s4:24 s2:18"


def split_words(text: str) -> Iterator[tuple[str, str]]:
    for word in text.split():
        sensor, _, reading = word.partition(":")
        yield sensor, reading


def convert(pairs: Iterator[tuple[str, str]]) -> Iterator[tuple[str, float]]:
    for sensor, reading in pairs:
        if reading[0] in "cf":
            value = float(reading[1:])  # @bug
        else:
            value = float(reading)
        yield sensor, value


def select(pairs: Iterator[tuple[str, float]], wanted: str) -> Iterator[float]:
    for sensor, value in pairs:
        if sensor == wanted:
            yield value


def find_mean(text: str, sensor: str) -> float:
    values = list(select(convert(split_words(text)), sensor))
    mean = sum(values) / len(values)
    return mean


def main() -> None:
    mean = find_mean(RAW, "s4")
    print(f"s4: {mean:.2f}")  # @symptom


if __name__ == "__main__":
    main()

# @fix: value = (float(reading[1:]) - 32) / 1.8 if reading[0] == "f" else float(reading[1:])
