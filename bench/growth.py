"""The time of a step as a program grows, and the memory of the server after many sessions."""

from __future__ import annotations

import contextlib
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from bench.measurements import (
    PROGRAMS,
    LineBreakpoint,
    Program,
    find_marked_line,
    load_program,
)
from bench.server import Server, Session

DEPTHS = (10, 100, 1000, 5000)
BREAKPOINTS = (1, 10, 100, 1000)
MEGABYTES = (0, 1, 10, 100)
_SAMPLES = 10


@dataclass(frozen=True)
class Curve:
    """A figure, measured at several sizes of something that should not affect it."""

    key: str
    name: str
    against: str
    unit: str
    points: list[tuple[int, float]]


def measure_steps(server: Server, python: str, count: int, sizes: int) -> list[Curve]:
    """Count so many steps of programs of the first so many sizes."""
    by_depth = {depth: _load_loop(python, depth) for depth in DEPTHS[:sizes]}
    by_output = {size: _load_loop(python, 0, size) for size in MEGABYTES[:sizes]}
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        by_breakpoints = {
            number: _write_program(number, Path(folder), python) for number in BREAKPOINTS[:sizes]
        }
        return [
            Curve(key, f"time of a step, by {key}", against, "ms", _step(server, programs, count))
            for key, against, programs in (
                ("depth", "frames on the stack", by_depth),
                ("breakpoints", "breakpoints in the file", by_breakpoints),
                ("output", "MB written before", by_output),
            )
        ]


def _step(server: Server, programs: dict[int, Program], count: int) -> list[tuple[int, float]]:
    """Step the programs in turn, and return the median of each in milliseconds."""
    taken: dict[int, list[float]] = {size: [] for size in programs}
    with contextlib.ExitStack() as stack:
        sessions = {
            size: stack.enter_context(contextlib.closing(Session(server, program)))
            for size, program in programs.items()
        }
        server.wait_for_interpreters()
        for _ in range(count):
            for size, session in sessions.items():
                start = time.perf_counter()
                session.step()
                taken[size].append((time.perf_counter() - start) * 1000)
                assert session.line
    return [(size, statistics.median(times)) for size, times in taken.items()]


def measure_sessions(server: Server, count: int) -> list[Curve]:
    """Create, launch, end and delete sessions in a row, and measure the server in between."""
    memory: list[tuple[int, float]] = []
    descriptors: list[tuple[int, float]] = []
    every = max(1, count // _SAMPLES)
    for number in range(count + 1):
        if number % every == 0:
            server.wait_for_interpreters()
            time.sleep(0.2)  # the server cleans up after a session in the background
            memory.append((number, server.measure_own_memory()))
            descriptors.append((number, server.count_descriptors()))
        with contextlib.closing(Session(server, load_program("orders.py", "first"))) as session:
            session.end()
    return [
        Curve("memory", "memory of the server", "sessions in a row", "MB", memory),
        Curve("descriptors", "descriptors of the server", "sessions in a row", "", descriptors),
    ]


def _load_loop(python: str, *arguments: int) -> Program:
    words = tuple(map(str, arguments))
    return load_program("endless_loop.py", "add", python=python, arguments=words)


def _write_program(count: int, folder: Path, python: str) -> Program:
    """Write the endless loop with one more function, never called, that is full of breakpoints."""
    path = folder / f"with_{count}.py"
    source = (PROGRAMS / "endless_loop.py").read_text("utf-8")
    before, main, after = source.partition("if __name__")
    lines = "".join(f"    x = {number}\n" for number in range(count))
    path.write_text(f"{before}def spare():\n{lines}\n\n{main}{after}", encoding="utf-8")
    first = before.count("\n") + 2
    breakpoints = [LineBreakpoint(find_marked_line(path, "add"))]
    breakpoints += [LineBreakpoint(first + number) for number in range(count - 1)]
    return Program(str(path), tuple(breakpoints), python)
