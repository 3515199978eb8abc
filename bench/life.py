"""A program's life under a debugger: launch, steps, evaluations, a look at the status, the end."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from bench.measuring import Driver, Effort, Program, Readings, megabytes

LAUNCH = "launch to first stop"
COLD = "launch, nothing prepared"
STEP = "step with locals"
EVALUATE = "evaluate"
STATUS = "status"
END = "end of program"
MEMORY = "memory while paused"
UNITS = {**dict.fromkeys((LAUNCH, COLD, STEP, EVALUATE, STATUS, END), "ms"), MEMORY: "MB"}
_EXPRESSION = "len(seen) + len(names)"


def in_turn(drivers: Sequence[Driver], program: Program, effort: Effort) -> dict[str, Readings]:
    """All peers' lives, interleaved, so that what the machine does meanwhile meets all alike."""
    readings = {each.name: Readings() for each in drivers}
    warm_up = Effort(1, 1, 1)
    for driver in drivers:  # files in the cache, modules compiled: the same start for all
        _live(driver, program, warm_up, Readings())
    for number in range(effort.rounds):
        shift = number % len(drivers)
        for driver in (*drivers[shift:], *drivers[:shift]):
            _live(driver, program, effort, readings[driver.name])
    same_work(readings)
    return readings


def _live(driver: Driver, program: Program, effort: Effort, readings: Readings) -> None:
    if driver.prepares:
        with readings.timed(COLD):
            debuggee = driver.launch(program, prepared=False)
        debuggee.close()
        driver.settle()
    with readings.timed(LAUNCH):
        debuggee = driver.launch(program)
    if not driver.prepares:
        readings.add(COLD, readings.all[LAUNCH][-1])
    with contextlib.closing(debuggee):
        readings.trail = [debuggee.line]
        driver.settle()
        for _ in range(effort.steps):
            with readings.timed(STEP):
                debuggee.step()
            readings.trail.append(debuggee.line)
        for _ in range(effort.evaluations):
            with readings.timed(EVALUATE):
                debuggee.evaluate(_EXPRESSION)
            with readings.timed(STATUS):
                debuggee.status()
        readings.add(MEMORY, megabytes(debuggee.processes()))
        with readings.timed(END):
            debuggee.end()


def same_work(readings: dict[str, Readings]) -> None:
    trails = {peer: each.trail for peer, each in readings.items()}
    if any(trail != next(iter(trails.values())) for trail in trails.values()):
        raise AssertionError(f"they went through different lines: {trails}")
