"""Readings and what is said about them: the median, and the ninetieth percentile."""

from __future__ import annotations

import contextlib
import os
import statistics
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import psutil

LAUNCH = "launch to first stop"
COLD = "launch, nothing prepared"
STEP = "step with locals"
EVALUATE = "evaluate"
STATUS = "status"
END = "end of program"
MEMORY = "memory while paused"
ROWS = (LAUNCH, COLD, STEP, EVALUATE, STATUS, END, MEMORY)
UNITS = {MEMORY: "MB"}


@dataclass(frozen=True)
class Program:
    """The program that everybody debugs, where they stop first, and what they ask there."""

    path: str
    line: int
    python: str
    expression: str = "len(seen) + len(names)"


@dataclass(frozen=True)
class Effort:
    """How much is done: lives for each peer, and what happens in a life."""

    rounds: int
    steps: int
    evaluations: int


class Readings:
    """What one peer's lives yielded, by name."""

    def __init__(self) -> None:
        self.all: defaultdict[str, list[float]] = defaultdict(list)
        self.trail: list[int] = []
        """The lines that the last life stepped through."""

    def add(self, name: str, value: float) -> None:
        self.all[name].append(value)

    @contextlib.contextmanager
    def timed(self, name: str) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self.add(name, (time.perf_counter() - began) * 1000)


class Driver(Protocol):
    """One way to drive a debugger."""

    name: str

    def live(self, program: Program, effort: Effort, readings: Readings) -> None:
        """One life of the program, from nothing to gone."""

    def close(self) -> None: ...


@dataclass(frozen=True)
class Figure:
    median: float
    p90: float
    count: int


@dataclass(frozen=True)
class Row:
    name: str
    unit: str
    figures: dict[str, Figure]
    """By peer."""
    ratios: dict[str, float] = field(default_factory=dict)
    """To the first peer, for every other."""


def figure(values: Sequence[float]) -> Figure:
    ordered = sorted(values)
    tenth = ordered[min(len(ordered) - 1, round(0.9 * (len(ordered) - 1)))]
    return Figure(statistics.median(ordered), tenth, len(ordered))


def rows(readings: dict[str, Readings], names: Sequence[str] = ROWS) -> list[Row]:
    """The table's rows; ratios are to whoever comes first."""
    made = []
    for name in names:
        figures = {peer: figure(each.all[name]) for peer, each in readings.items()}
        base, *others = figures
        ratios = {peer: figures[peer].median / figures[base].median for peer in others}
        made.append(Row(name, UNITS.get(name, "ms"), figures, ratios))
    return made


def in_turn(drivers: Sequence[Driver], program: Program, effort: Effort) -> dict[str, Readings]:
    """All peers' lives, interleaved, so that what the machine does meanwhile meets all alike."""
    readings = {each.name: Readings() for each in drivers}
    warm_up = Effort(1, 1, 1)
    for driver in drivers:  # files in the cache, modules compiled: the same start for all
        driver.live(program, warm_up, Readings())
    for number in range(effort.rounds):
        shift = number % len(drivers)
        for driver in (*drivers[shift:], *drivers[:shift]):
            driver.live(program, effort, readings[driver.name])
    _same_work(readings)
    return readings


def _same_work(readings: dict[str, Readings]) -> None:
    trails = {peer: each.trail for peer, each in readings.items()}
    if any(trail != next(iter(trails.values())) for trail in trails.values()):
        raise AssertionError(f"they went through different lines: {trails}")


def marked_line(path: Path, marker: str) -> int:
    lines = path.read_text(encoding="utf-8").splitlines()
    return next(n for n, line in enumerate(lines, 1) if line.endswith(f"# @{marker}"))


def megabytes(processes: Sequence[psutil.Process]) -> float:
    """What these processes really take: pages that they share are counted once, in parts."""
    total = 0
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            info = process.memory_full_info()
            total += getattr(info, "pss", info.rss)
    return total / 1e6


def processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
