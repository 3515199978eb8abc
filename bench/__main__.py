"""`python -m bench`: measure, show, and keep the figures if asked."""

from __future__ import annotations

import argparse
import contextlib
import importlib.metadata
import json
import platform
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from bench import (
    agents,
    calls,
    calls_store,
    crowd,
    growth,
    hot,
    inside,
    life,
    measuring,
    plots,
    table,
    trip,
)
from bench.holdfast_http import Holdfast
from bench.measuring import Driver, Effort, Figure, Program, Readings
from bench.server import Server
from bench.stock import Stock

STOCK = "stock debugpy"
QUICK_ACK = "quick ack"
HOLDFAST = "Holdfast"
_TESTS = str(Path(__file__).parents[1] / "tests")


@dataclass(frozen=True)
class Run:
    """How much of everything."""

    effort: Effort
    trips: int
    crowd_seconds: float
    growth_steps: int
    sessions: int
    every_python: bool
    calls: int


_USUAL = Run(Effort(rounds=6, steps=20, evaluations=10), 50, 3.0, 100, 300, True, 1_000_000)
_QUICK = Run(Effort(rounds=1, steps=8, evaluations=4), 10, 0.5, 8, 10, False, 20_000)


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few repetitions, below a minute")
    parser.add_argument("--python", default=sys.executable, help="the interpreter of the program")
    parser.add_argument("--json", metavar="PATH", help="write the figures here")
    parser.add_argument("--plots", metavar="FOLDER", help="draw the growth, as SVG files, here")
    parser.add_argument("--rounds", type=int, help="lives of the program, for each peer")
    parser.add_argument("--steps", type=int, help="steps in each life")
    parser.add_argument("--sessions", type=int, help="sessions in a row, for the growth")
    parser.add_argument("--only", choices=PARTS, nargs="+", default=list(PARTS), help="not all")
    return parser.parse_args()


def main() -> None:
    given = options()
    chosen = _QUICK if given.quick else _USUAL
    effort = Effort(
        given.rounds or chosen.effort.rounds,
        given.steps or chosen.effort.steps,
        chosen.effort.evaluations,
    )
    run = Run(
        effort,
        chosen.trips,
        chosen.crowd_seconds,
        chosen.growth_steps,
        chosen.sessions if given.sessions is None else given.sessions,
        chosen.every_python,
        chosen.calls,
    )
    facts = about(given.python, run)
    print(
        f"Python {facts['python']} under debugpy {facts['debugpy']}, {facts['processors']} cores; "
        f"{effort.rounds} rounds of {effort.steps} steps\n"
    )
    found: dict[str, Any] = {}
    with contextlib.closing(Server()) as server:
        for name in given.only:
            with Console(stderr=True).status(f"measuring: {name}…"):
                shown, figures = PARTS[name](Bench(server, given.python, run))
            print(shown, flush=True)
            found |= figures
    if given.plots:
        for path in plots.draw(found.get("growth", []), Path(given.plots)):
            print(path)
    if given.json:
        text = json.dumps(table.plain({**facts, **found}), indent=2)
        Path(given.json).write_text(text + "\n", encoding="utf-8")


Shown = tuple[str, dict[str, Any]]
"""The tables, and the figures behind them by name."""


class Bench:
    """The parts, each of which measures and says it."""

    def __init__(self, server: Server, python: str, run: Run) -> None:
        self.server = server
        self.run = run
        self.program = measuring.program("orders.py", "first", python=python)
        self.drivers: list[Driver] = [
            Stock(STOCK),
            Stock(QUICK_ACK, acknowledge_at_once=True),
            Holdfast(HOLDFAST, server),
        ]

    def lives(self) -> Shown:
        readings = life.in_turn(self.drivers, self.program, self.run.effort)
        self.server.refilled()
        held, spare = self.server.footprint()
        rows = measuring.rows(readings, life.UNITS)
        parts = where_a_step_goes(self.program, self.run.effort, readings[HOLDFAST])
        shown = (
            f"## Holdfast beside stock debugpy\n\n{table.beside(rows)}\n"
            f"The server, one for all sessions: {held:.0f} MB; "
            f"its interpreters that stand ready: {spare:.0f} MB.\n\n"
            f"## Where the time of a step goes\n\n{table.parts(parts)}"
        )
        more = {"server_mb": held, "ready_interpreters_mb": spare}
        return shown, {"rows": rows, "inside": parts, **more}

    def breakpoints(self) -> Shown:
        pythons = every_python() if self.run.every_python else own_python(self.program.python)
        readings = hot.in_turn(self.drivers, pythons)
        rows = measuring.rows(readings, hot.units(pythons))
        shown = f"## A breakpoint in a hot loop, for each pass\n\n{table.beside(rows)}"
        return shown, {"breakpoints": rows}

    def trips(self) -> Shown:
        readings = trip.measure(self.server, self.run.trips)
        figures = {name: measuring.figure(readings.all[name]) for name in trip.UNITS}
        shown = f"## A look at the status\n\n{table.parts(figures, trip.BARE)}"
        return shown, {"trips": figures}

    def crowds(self) -> Shown:
        paces = crowd.measure(self.server, self.run.crowd_seconds)
        return f"## Stepping at once\n\n{table.crowds(paces)}", {"crowds": paces}

    def growth(self) -> Shown:
        curves = growth.steps(self.server, self.program.python, self.run.growth_steps)
        if self.run.sessions:
            with contextlib.closing(Server()) as fresh:
                curves += growth.sessions(fresh, self.run.sessions)
        shown = "## What grows, and what does not\n\n"
        return shown + "\n".join(map(table.curve, curves)), {"growth": curves}

    def calls(self) -> Shown:
        many, rounds = self.run.calls, 3 if self.run.calls < 100_000 else 9
        with contextlib.closing(Server("--pool-size", "0")) as server:
            ratios = [calls.strict(server, rounds), calls.large(server, rounds)]
            leased = calls.leased(server, rounds, 20_000)
            sustained = calls.sustained(server, rounds, max(20_000, many // 10), leased.base)
            ratios += [leased, sustained, calls.stack(rounds)]
            storm = calls.storm(server, many)
        ratios += [
            calls_store.ingest(max(20_000, many // 5)),
            calls_store.last_hundred(10_000, many),
        ]
        shown = f"## Calls\n\n{table.held_against(ratios)}\n{table.storms(storm)}"
        return shown, {"calls": ratios, "storm": storm}

    def agents(self) -> Shown:
        few = self.run.calls < 100_000
        ratios = agents.recording(3 if few else 15, 300 if few else 3_000)
        ratios += [agents.by_file(5 if few else 50)]
        with contextlib.closing(Server("--pool-size", "0")) as server:
            ratios += [agents.by_server(server, 5 if few else 200)]
        replayed = agents.replay(50 if few else 1_000)
        shown = f"## Agent loops\n\n{table.held_against(ratios)}\n{table.replayed(replayed)}"
        return shown, {"agents": ratios, "replayed": replayed}


PARTS: dict[str, Callable[[Bench], Shown]] = {
    "lives": Bench.lives,
    "breakpoints": Bench.breakpoints,
    "trips": Bench.trips,
    "crowds": Bench.crowds,
    "growth": Bench.growth,
    "calls": Bench.calls,
    "agents": Bench.agents,
}


def where_a_step_goes(program: Program, effort: Effort, over_http: Readings) -> dict[str, Figure]:
    within = Readings()
    for _ in range(effort.rounds):
        inside.measure(program, effort.steps, within)
    all_of_them = {
        "a look at the status, over HTTP": over_http.all[life.STATUS],
        inside.HOP: within.all[inside.HOP],
        inside.STEP_INSIDE: within.all[inside.STEP_INSIDE],
        "a step, over HTTP": over_http.all[life.STEP],
    }
    return {name: measuring.figure(values) for name, values in all_of_them.items()}


def every_python() -> dict[str, str]:
    """One interpreter of each version that this machine has, as the tests find them."""
    sys.path.append(_TESTS)
    import interpreters

    return {
        ".".join(map(str, each.version)): each.path for each in interpreters.find_interpreters()
    }


def own_python(path: str) -> dict[str, str]:
    return {".".join(version_of(path).split(".")[:2]): path}


def version_of(python: str) -> str:
    asked = [python, "-c", "import platform; print(platform.python_version())"]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()


def about(python: str, run: Run) -> dict[str, Any]:
    return {
        "python": version_of(python),
        "server_python": platform.python_version(),
        "debugpy": importlib.metadata.version("debugpy"),
        "holdfast": importlib.metadata.version("holdfast"),
        "processors": measuring.processors(),
        "run": run,
    }


if __name__ == "__main__":
    main()
