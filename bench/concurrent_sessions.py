"""Many sessions that step at once: how many steps they make together, and each of them alone."""

from __future__ import annotations

import contextlib
import itertools
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from bench.measurements import PROGRAMS, find_marked_line, load_program
from bench.server import Server, Session

_LINES = [
    find_marked_line(PROGRAMS / "endless_loop.py", marker) for marker in ("add", "total", "loop")
]


@dataclass(frozen=True)
class Pace:
    sessions: int
    seconds: float
    steps: list[int]
    """Of each session, in the same time."""

    @property
    def per_second(self) -> float:
        return sum(self.steps) / self.seconds


def measure(server: Server, seconds: float, counts: tuple[int, ...]) -> list[Pace]:
    """Step with each number of sessions, one after the other, on the same server."""
    return [_step_together(server, count, seconds) for count in counts]


def _step_together(server: Server, count: int, seconds: float) -> Pace:
    program = load_program("endless_loop.py", "add")
    with contextlib.ExitStack() as stack, ThreadPoolExecutor(count) as pool:
        sessions = [
            stack.enter_context(contextlib.closing(session))
            for session in pool.map(lambda _: Session(server, program), range(count))
        ]
        server.wait_for_interpreters()
        start = time.monotonic()
        steps = list(pool.map(lambda session: _step_until(session, start + seconds), sessions))
        return Pace(count, time.monotonic() - start, steps)


def _step_until(session: Session, end: float) -> int:
    """Step until then, at least once, check every line, and return the number of steps."""
    expected = itertools.cycle(_LINES)
    visited = [(session.line, next(expected))]
    while len(visited) == 1 or time.monotonic() < end:
        session.step()
        visited.append((session.line, next(expected)))
    steps = len(visited) - 1
    number = int(session.evaluate("number"))
    if any(line != right for line, right in visited) or number != (steps + 2) // 3:
        raise AssertionError(f"{steps} steps to number {number}: {visited[-5:]}")
    return steps
