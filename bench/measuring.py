"""Readings and what is said about them: the median, and the ninetieth percentile."""

from __future__ import annotations

import contextlib
import os
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import psutil

PROGRAMS = Path(__file__).parent / "programs"


@dataclass(frozen=True)
class Point:
    """A breakpoint of a program."""

    line: int
    condition: str | None = None
    hit_condition: str | None = None

    def as_json(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if value is not None}


@dataclass(frozen=True)
class Program:
    """A program that is debugged, and where it stops."""

    path: str
    points: tuple[Point, ...]
    python: str = sys.executable
    arguments: tuple[str, ...] = ()


def program(name: str, *markers: str, python: str = sys.executable, **more: Any) -> Program:
    """One of `programs`, which stops at the lines with these `# @markers`."""
    path = PROGRAMS / name
    points = tuple(Point(marked_line(path, marker)) for marker in markers)
    return Program(str(path), points, python, **more)


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
        """The lines that the last life went through."""

    def add(self, name: str, value: float) -> None:
        self.all[name].append(value)

    @contextlib.contextmanager
    def timed(self, name: str) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self.add(name, (time.perf_counter() - began) * 1000)


class Debuggee(Protocol):
    """A program that stands at a stop, in the hands of one peer."""

    @property
    def line(self) -> int: ...
    def step(self) -> None: ...
    def resume(self) -> None:
        """To the next stop."""

    def evaluate(self, expression: str) -> str: ...
    def status(self) -> None: ...
    def end(self) -> None: ...
    def processes(self) -> list[psutil.Process]: ...
    def close(self) -> None: ...


class Driver(Protocol):
    """One way to drive a debugger."""

    name: str
    prepares: bool
    """Does it keep something ready, so that a launch without is another matter?"""

    def launch(self, program: Program, *, prepared: bool = True) -> Debuggee:
        """From nothing to the first stop."""

    def settle(self) -> None:
        """Wait until nothing goes on in the background."""


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


def rows(readings: dict[str, Readings], units: dict[str, str]) -> list[Row]:
    """The table's rows, each with its unit; ratios are to whoever comes first."""
    made = []
    for name, unit in units.items():
        figures = {peer: figure(each.all[name]) for peer, each in readings.items()}
        base, *others = figures
        ratios = {peer: figures[peer].median / figures[base].median for peer in others}
        made.append(Row(name, unit, figures, ratios))
    return made


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
