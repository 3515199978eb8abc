"""Symptom: the configured limit of 3 is ignored, and one batch has all 7 jobs."""

from __future__ import annotations

limit = 100


def configure(text: str) -> None:
    for line in text.splitlines():
        name, value = line.split("=")
        if name == "limit":
            limit = int(value)  # @bug


def build_batches(jobs: list[str]) -> list[list[str]]:
    batches: list[list[str]] = []
    for job in jobs:
        if not batches or len(batches[-1]) >= limit:
            batches.append([])
        batches[-1].append(job)
    return batches


def main() -> None:
    configure("color=red\nlimit=3")
    batches = build_batches(list("abcdefg"))
    largest = max(len(batch) for batch in batches)
    print(f"largest batch: {largest}")  # @symptom


if __name__ == "__main__":
    main()

# @fix: globals()["limit"] = int(value)
