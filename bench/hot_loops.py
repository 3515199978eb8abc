"""Breakpoints in hot loops that never stop: the extra cost of an iteration."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import subprocess
from collections.abc import Sequence

from bench.measurements import Driver, LineBreakpoint, Program, Readings, load_program

CONDITION = "conditional, false"
COUNT = "hit count, not reached"
_NEVER = {"conditional": {"condition": "number < 0"}, "counted": {"hit_condition": "== 1000000000"}}


def measure(drivers: Sequence[Driver], pythons: dict[str, str], runs: int) -> dict[str, Readings]:
    """Return µs of an iteration, less those of the loop without a debugger, by debugger.

    `pythons` has the path of an interpreter by its version. The best of so many runs counts.
    """
    readings = {driver.name: Readings() for driver in drivers}
    for version, python in pythons.items():
        program = _load(python, runs)
        plain = _run_plain(program)
        for driver in drivers:
            with contextlib.closing(driver.launch(program)) as debuggee:
                driver.wait_until_idle()
                debuggee.resume()
                costs: list[float] = json.loads(debuggee.evaluate("costs"))
            for name, cost, without in zip((CONDITION, COUNT), costs, plain, strict=True):
                readings[driver.name].add(row_name(version, name), cost - without)
    return readings


def units(pythons: dict[str, str]) -> dict[str, str]:
    return {row_name(version, name): "µs" for version in pythons for name in (CONDITION, COUNT)}


def row_name(version: str, name: str) -> str:
    return f"{version}: {name}"


def _load(python: str, runs: int) -> Program:
    """Return the program with stops before and after its loops, and two that never stop in them."""
    arguments = (str(runs),)
    program = load_program("hot_loops.py", "begin", "done", python=python, arguments=arguments)
    in_loops = tuple(
        LineBreakpoint(load_program("hot_loops.py", marker).breakpoints[0].line, **never)
        for marker, never in _NEVER.items()
    )
    return dataclasses.replace(program, breakpoints=program.breakpoints + in_loops)


def _run_plain(program: Program) -> list[float]:
    """Run the program without a debugger, and return the costs that it prints."""
    argv = [program.python, program.path, *program.arguments]
    printed = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    costs: list[float] = json.loads(printed)
    return costs
