"""What a step costs as a program grows, and what the server holds as sessions come and go."""

from __future__ import annotations

import contextlib
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from bench.measuring import PROGRAMS, Point, Program, marked_line, program
from bench.server import Server, Session

DEPTHS = (10, 100, 1000, 5000)
BREAKPOINTS = (1, 10, 100, 1000)
MEGABYTES = (0, 1, 10, 100)
_SAMPLES = 10


@dataclass(frozen=True)
class Curve:
    """One figure against another, which should not move it."""

    key: str
    name: str
    against: str
    unit: str
    points: list[tuple[int, float]]


def steps(server: Server, python: str, count: int) -> list[Curve]:
    depth = {each: _circle(python, each) for each in DEPTHS}
    output = {each: _circle(python, 0, each) for each in MEGABYTES}
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        crowded = {each: _with_breakpoints(each, Path(folder), python) for each in BREAKPOINTS}
        return [
            Curve(key, f"time of a step, by {key}", against, "ms", _steps(server, each, count))
            for key, against, each in (
                ("depth", "frames on the stack", depth),
                ("breakpoints", "breakpoints in the file", crowded),
                ("output", "MB written before", output),
            )
        ]


def _steps(server: Server, programs: dict[int, Program], count: int) -> list[tuple[int, float]]:
    """The median of each, in milliseconds. They step in turn, so that nobody has it easier."""
    taken: dict[int, list[float]] = {size: [] for size in programs}
    with contextlib.ExitStack() as stack:
        sessions = {
            size: stack.enter_context(contextlib.closing(Session(server, each)))
            for size, each in programs.items()
        }
        server.refilled()
        for _ in range(count):
            for size, session in sessions.items():
                began = time.perf_counter()
                session.step()
                taken[size].append((time.perf_counter() - began) * 1000)
                assert session.line
    return [(size, statistics.median(each)) for size, each in taken.items()]


def sessions(server: Server, count: int) -> list[Curve]:
    """Sessions in a row, each created, launched, ended and deleted."""
    memory: list[tuple[int, float]] = []
    descriptors: list[tuple[int, float]] = []
    every = max(1, count // _SAMPLES)
    for number in range(count + 1):
        if number % every == 0:
            server.refilled()
            time.sleep(0.2)  # what the last one left is put away in the background
            memory.append((number, server.own_memory()))
            descriptors.append((number, server.descriptors()))
        with contextlib.closing(Session(server, program("orders.py", "first"))) as session:
            session.end()
    return [
        Curve("memory", "memory of the server", "sessions in a row", "MB", memory),
        Curve("descriptors", "descriptors of the server", "sessions in a row", "", descriptors),
    ]


def _circle(python: str, *arguments: int) -> Program:
    return program("circle.py", "add", python=python, arguments=tuple(map(str, arguments)))


def _with_breakpoints(count: int, folder: Path, python: str) -> Program:
    """The circle, with a function after it that is never called and full of breakpoints."""
    path = folder / f"with_{count}.py"
    before, main, after = (PROGRAMS / "circle.py").read_text("utf-8").partition("if __name__")
    lines = "".join(f"    x = {each}\n" for each in range(count))
    path.write_text(f"{before}def spare():\n{lines}\n\n{main}{after}", encoding="utf-8")
    first = before.count("\n") + 2
    points = [Point(marked_line(path, "add"))]
    points += [Point(first + each) for each in range(count - 1)]
    return Program(str(path), tuple(points), python)
