"""Symptom: the last train was 3 minutes late, and the report says 41."""

from __future__ import annotations

DAY = "06:10+0 07:10+7 08:10+41 09:10+2 10:10+12 11:10+5 12:10+3"


def read_delays(text: str) -> list[int]:
    delays = []
    for word in text.split():
        _clock, _, delay = word.partition("+")
        delays.append(int(delay))
    return delays


def find_median(values: list[int]) -> int:
    values.sort()  # @bug
    middle = len(values) // 2
    return values[middle]


def find_last(delays: list[int]) -> int:
    return delays[-1] if delays else 0


def summarize(text: str) -> dict[str, int]:
    delays = read_delays(text)
    median = find_median(delays)
    last = find_last(delays)
    return {"median": median, "last": last}


def main() -> None:
    summary = summarize(DAY)
    last = summary["last"]
    print(f"median {summary['median']}, last train {last}")  # @symptom


if __name__ == "__main__":
    main()

# @fix: values = sorted(values)
