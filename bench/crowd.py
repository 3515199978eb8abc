"""Many sessions that step at once: how fast all of them together, and does each get its share?"""

from __future__ import annotations

import contextlib
import itertools
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from bench.measuring import PROGRAMS, marked_line, program
from bench.server import Server, Session

_CIRCLE = [marked_line(PROGRAMS / "circle.py", each) for each in ("add", "total", "loop")]


@dataclass(frozen=True)
class Pace:
    sessions: int
    seconds: float
    steps: list[int]
    """Of each session, in the same span of time."""

    @property
    def per_second(self) -> float:
        return sum(self.steps) / self.seconds


def measure(server: Server, seconds: float, crowds: tuple[int, ...] = (1, 10, 30)) -> list[Pace]:
    """Each crowd in turn, on the same server. One that went through wrong lines ends the run."""
    return [_together(server, count, seconds) for count in crowds]


def _together(server: Server, count: int, seconds: float) -> Pace:
    with contextlib.ExitStack() as stack, ThreadPoolExecutor(count) as pool:
        sessions = [
            stack.enter_context(contextlib.closing(made))
            for made in pool.map(
                lambda _: Session(server, program("circle.py", "add")), range(count)
            )
        ]
        server.refilled()
        began = time.monotonic()
        steps = list(pool.map(lambda each: _step_until(each, began + seconds), sessions))
        return Pace(count, time.monotonic() - began, steps)


def _step_until(session: Session, end: float) -> int:
    """How many steps it made, all of them in a circle."""
    lines = itertools.cycle(_CIRCLE)
    went = [(session.line, next(lines))]
    while time.monotonic() < end:
        session.step()
        went.append((session.line, next(lines)))
    steps = len(went) - 1
    number = int(session.evaluate("number"))
    if any(line != right for line, right in went) or number != (steps + 2) // 3:
        raise AssertionError(f"{steps} steps to number {number}: {went[-5:]}")
    return steps
