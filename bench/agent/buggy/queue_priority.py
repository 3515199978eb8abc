"""Symptom: the urgent job, deploy with priority 100, runs last."""

from __future__ import annotations

import heapq
from typing import Any

JOBS = [("mail", "3"), ("backup", "20"), ("deploy", "100")]


def read_priority(text: str) -> int:
    priority = int(text)
    return priority


def push_all(jobs: list[tuple[str, str]]) -> list[Any]:
    queue: list[Any] = []
    for name, text in jobs:
        priority = read_priority(text)
        entry = (priority, name)  # @bug
        heapq.heappush(queue, entry)
    return queue


def run_all(queue: list[Any]) -> list[str]:
    ran = []
    while queue:
        _priority, name = heapq.heappop(queue)
        ran.append(name)
    return ran


def main() -> None:
    queue = push_all(JOBS)
    ran = run_all(queue)
    last = ran[-1]
    print(f"last: {last}")  # @symptom


if __name__ == "__main__":
    main()

# @fix: entry = (-priority, name)
