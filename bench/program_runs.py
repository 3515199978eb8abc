"""A program under a debugger, from launch to end: steps, evaluations, status, memory."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from bench.measurements import Driver, Effort, Program, Readings, measure_memory

LAUNCH = "launch to first stop"
COLD = "launch, nothing prepared"
STEP = "step with locals"
EVALUATE = "evaluate"
STATUS = "status"
END = "end of program"
MEMORY = "memory while paused"
UNITS = {**dict.fromkeys((LAUNCH, COLD, STEP, EVALUATE, STATUS, END), "ms"), MEMORY: "MB"}
_EXPRESSION = "len(seen) + len(names)"


def measure(drivers: Sequence[Driver], program: Program, effort: Effort) -> dict[str, Readings]:
    """Run the program under every debugger in turn, so that other load affects all alike."""
    readings = {driver.name: Readings() for driver in drivers}
    if effort.rounds > 1:  # all start with files in the cache and modules compiled
        for driver in drivers:
            _run(driver, program, Effort(1, 1, 1), Readings())
    for number in range(effort.rounds):
        shift = number % len(drivers)
        for driver in (*drivers[shift:], *drivers[:shift]):
            _run(driver, program, effort, readings[driver.name])
    _check_lines(readings)
    return readings


def _run(driver: Driver, program: Program, effort: Effort, readings: Readings) -> None:
    if driver.has_warm_launch:
        with readings.time(COLD):
            debuggee = driver.launch(program, warm=False)
        debuggee.close()
        driver.wait_until_idle()
    with readings.time(LAUNCH):
        debuggee = driver.launch(program)
    if not driver.has_warm_launch:
        readings.add(COLD, readings.all[LAUNCH][-1])
    with contextlib.closing(debuggee):
        readings.lines = [debuggee.line]
        driver.wait_until_idle()
        for _ in range(effort.steps):
            with readings.time(STEP):
                debuggee.step()
            readings.lines.append(debuggee.line)
        for _ in range(effort.evaluations):
            with readings.time(EVALUATE):
                debuggee.evaluate(_EXPRESSION)
            with readings.time(STATUS):
                debuggee.status()
        readings.add(MEMORY, measure_memory(debuggee.processes()))
        with readings.time(END):
            debuggee.end()


def _check_lines(readings: dict[str, Readings]) -> None:
    """Raise if the debuggers stopped at different lines: they did different work."""
    lines = {name: one.lines for name, one in readings.items()}
    if any(visited != next(iter(lines.values())) for visited in lines.values()):
        raise AssertionError(f"the debuggers stopped at different lines: {lines}")
