"""Breakpoints in hot loops that never stop: what a pass costs more than without a debugger."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import subprocess
from collections.abc import Sequence

from bench.measuring import Driver, Point, Program, Readings, program

CONDITION = "conditional, false"
COUNT = "hit count, not reached"
_NEVER = {"conditional": {"condition": "number < 0"}, "counted": {"hit_condition": "== 1000000000"}}


def in_turn(drivers: Sequence[Driver], pythons: dict[str, str]) -> dict[str, Readings]:
    """By peer, for every Python (a path by its version): µs of a pass, over the plain loop's."""
    readings = {each.name: Readings() for each in drivers}
    for version, python in pythons.items():
        watched = _watched(python)
        plain = _plain(watched)
        for driver in drivers:
            with contextlib.closing(driver.launch(watched)) as debuggee:
                driver.settle()
                debuggee.resume()
                costs: list[float] = json.loads(debuggee.evaluate("costs"))
            for name, cost, without in zip((CONDITION, COUNT), costs, plain, strict=True):
                readings[driver.name].add(row_name(version, name), cost - without)
    return readings


def units(pythons: dict[str, str]) -> dict[str, str]:
    return {row_name(each, name): "µs" for each in pythons for name in (CONDITION, COUNT)}


def row_name(version: str, name: str) -> str:
    return f"{version}: {name}"


def _watched(python: str) -> Program:
    """It stops before the loops and after them; what watches the loops never stops it."""
    first = program("hot.py", "begin", "done", python=python)
    watching = tuple(
        Point(program("hot.py", marker).points[0].line, **never) for marker, never in _NEVER.items()
    )
    return dataclasses.replace(first, points=first.points + watching)


def _plain(of: Program) -> list[float]:
    ran = subprocess.run([of.python, of.path], capture_output=True, text=True, check=True)
    costs: list[float] = json.loads(ran.stdout)
    return costs
