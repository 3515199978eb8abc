"""Symptom: the stock of bolts ends at -1, and nobody sold more than came in."""

from __future__ import annotations

from dataclasses import dataclass

NAMES = ("nut", "bolt", "screw")


@dataclass
class Event:
    item: str
    kind: str
    count: int


def make_events(count: int) -> list[Event]:
    events = []
    for number in range(count):
        item = NAMES[number % 3]
        if number == 5_002:
            events.append(Event(item, "return", 3))
        elif number % 6 < 3:
            events.append(Event(item, "in", 2))
        else:
            events.append(Event(item, "out", 2))
    return events


def find_delta(event: Event) -> int:
    sign = 1 if event.kind == "in" else -1  # @bug
    return sign * event.count


def replay(events: list[Event]) -> dict[str, int]:
    stock = dict.fromkeys(NAMES, 0)
    for event in events:
        delta = find_delta(event)
        stock[event.item] += delta
    return stock


def main() -> None:
    stock = replay(make_events(6_000))
    bolts = stock["bolt"]
    print(f"bolts: {bolts}")  # @symptom


if __name__ == "__main__":
    main()

# @fix: sign = 1 if event.kind in ("in", "return") else -1
