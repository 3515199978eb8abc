"""What the benchmarks share: programs, drivers, readings, and figures made of readings."""

from __future__ import annotations

import contextlib
import os
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import psutil

PROGRAMS = Path(__file__).parent / "programs"


@dataclass(frozen=True)
class LineBreakpoint:
    """A breakpoint of a program."""

    line: int
    condition: str | None = None
    hit_condition: str | None = None

    def as_json(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if value is not None}


@dataclass(frozen=True)
class Program:
    """A program to debug, and its breakpoints."""

    path: str
    breakpoints: tuple[LineBreakpoint, ...]
    python: str = sys.executable
    arguments: tuple[str, ...] = ()


def load_program(name: str, *markers: str, python: str = sys.executable, **more: Any) -> Program:
    """Return one of `programs`, with a breakpoint on each line with one of these `# @markers`."""
    path = PROGRAMS / name
    breakpoints = tuple(LineBreakpoint(find_marked_line(path, marker)) for marker in markers)
    return Program(str(path), breakpoints, python, **more)


@dataclass(frozen=True)
class Effort:
    """How often each debugger runs the program, and what it does in each run."""

    rounds: int
    steps: int
    evaluations: int


class Readings:
    """The readings of one debugger, by name."""

    def __init__(self) -> None:
        self.all: defaultdict[str, list[float]] = defaultdict(list)
        self.lines: list[int] = []
        """The lines that the last run stopped at."""

    def add(self, name: str, value: float) -> None:
        self.all[name].append(value)

    @contextlib.contextmanager
    def time(self, name: str) -> Iterator[None]:
        """Add the milliseconds that the block takes."""
        start = time.perf_counter()
        yield
        self.add(name, (time.perf_counter() - start) * 1000)


class Debuggee(Protocol):
    """A program that one debugger has stopped."""

    @property
    def line(self) -> int: ...
    def step(self) -> None: ...
    def resume(self) -> None:
        """Run to the next stop."""

    def evaluate(self, expression: str) -> str: ...
    def status(self) -> None: ...
    def end(self) -> None: ...
    def processes(self) -> list[psutil.Process]: ...
    def close(self) -> None: ...


class Driver(Protocol):
    """One way to drive a debugger."""

    name: str
    has_warm_launch: bool
    """Whether it keeps interpreters ready, so that a launch without one is measured as well."""

    def launch(self, program: Program, *, warm: bool = True) -> Debuggee:
        """Start everything, and run to the first stop."""

    def wait_until_idle(self) -> None:
        """Wait until the debugger does nothing in the background."""


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
    """By debugger."""
    ratios: dict[str, float] = field(default_factory=dict)
    """Of every other debugger to the first."""


@dataclass(frozen=True)
class Ratio:
    """One figure, the base that it is compared with, and the ratio that it should not exceed."""

    name: str
    unit: str
    ours: float
    base_name: str
    base: float
    at_most: float

    @property
    def ratio(self) -> float:
        return self.ours / self.base


def summarize(values: Sequence[float]) -> Figure:
    ordered = sorted(values)
    p90 = ordered[min(len(ordered) - 1, round(0.9 * (len(ordered) - 1)))]
    return Figure(statistics.median(ordered), p90, len(ordered))


def build_rows(readings: dict[str, Readings], units: dict[str, str]) -> list[Row]:
    """Return a row for each unit; its ratios are to the first debugger."""
    rows = []
    for name, unit in units.items():
        figures = {driver: summarize(one.all[name]) for driver, one in readings.items()}
        base, *others = figures
        ratios = {driver: figures[driver].median / figures[base].median for driver in others}
        rows.append(Row(name, unit, figures, ratios))
    return rows


def find_marked_line(path: Path, marker: str) -> int:
    lines = path.read_text(encoding="utf-8").splitlines()
    return next(n for n, line in enumerate(lines, 1) if line.endswith(f"# @{marker}"))


def measure_memory(processes: Sequence[psutil.Process]) -> float:
    """Return the memory of these processes in MB, by PSS: each has its share of common pages."""
    total = 0
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            info = process.memory_full_info()
            total += getattr(info, "pss", info.rss)
    return total / 1e6


def time_each(work: Callable[[], object], times: int, clock: Callable[[], float]) -> float:
    """Return the microseconds that one call of `work` takes."""
    start = clock()
    for _ in range(times):
        work()
    return (clock() - start) / times * 1e6


def measure_in_turn(rounds: int, *ways: Callable[[], float]) -> list[float]:
    """Measure one way after the other, and return the fastest reading of each.

    The fastest is the one that other processes disturbed least.
    """
    readings = [[way() for way in ways] for _ in range(rounds)]
    return [min(column) for column in zip(*readings, strict=True)]


def count_processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
