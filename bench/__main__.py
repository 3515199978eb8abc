"""`python -m bench`: measure, print the tables, and write the figures to a file if asked."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
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
    call_store,
    calls,
    concurrent_sessions,
    editor_steps,
    growth,
    hot_loops,
    measurements,
    page_figures,
    plots,
    program_runs,
    quiet_loops,
    round_trips,
    step_parts,
    tables,
    traced_frames,
    watched_writes,
)
from bench.agent import comparison, evaluation, evaluation_plot, evaluation_tables, layers
from bench.agent.buggy_programs import ALL_PROGRAMS
from bench.debugpy_driver import DebugpyDriver
from bench.holdfast_driver import HoldfastDriver
from bench.measurements import Driver, Effort, Figure, Program, Readings
from bench.server import Server

STOCK = "stock debugpy"
QUICK_ACK = "quick ack"
HOLDFAST = "Holdfast"
_TESTS = str(Path(__file__).parents[1] / "tests")


@dataclass(frozen=True)
class Scale:
    """How much of everything a run does."""

    effort: Effort
    trips: int
    crowd_seconds: float
    growth_steps: int
    sessions: int
    every_python: bool
    calls: int
    has_peers: bool
    """Whether other MCP servers are installed and measured."""


_FULL = Scale(Effort(rounds=6, steps=20, evaluations=10), 50, 3.0, 100, 300, True, 1_000_000, True)
_QUICK = Scale(Effort(rounds=1, steps=8, evaluations=4), 10, 0.5, 8, 10, False, 20_000, False)


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few repetitions, less than a minute")
    parser.add_argument(
        "--python", default=sys.executable, help="the interpreter that runs the program"
    )
    parser.add_argument("--json", metavar="PATH", help="write the figures to this file")
    parser.add_argument(
        "--plots", metavar="FOLDER", help="draw the growth as SVG files in this folder"
    )
    parser.add_argument("--rounds", type=int, help="runs of the program under each debugger")
    parser.add_argument("--steps", type=int, help="steps in each run")
    parser.add_argument("--sessions", type=int, help="sessions in a row, for the growth")
    parser.add_argument(
        "--only",
        choices=PARTS,
        nargs="+",
        default=[name for name in PARTS if name != "evaluation"],
        help="run only these parts; the evaluation takes an hour, and runs only so",
    )
    return parser.parse_args()


def main() -> None:
    options = parse_options()
    default = _QUICK if options.quick else _FULL
    effort = dataclasses.replace(
        default.effort,
        rounds=options.rounds or default.effort.rounds,
        steps=options.steps or default.effort.steps,
    )
    sessions = default.sessions if options.sessions is None else options.sessions
    scale = dataclasses.replace(default, effort=effort, sessions=sessions)
    facts = describe_run(options.python, scale)
    print(
        f"Python {facts['python']} under debugpy {facts['debugpy']}, {facts['processors']} cores; "
        f"{effort.rounds} rounds of {effort.steps} steps\n"
    )
    measured: dict[str, Any] = {}
    with contextlib.closing(Server()) as server:
        for name in options.only:
            with Console(stderr=True).status(f"measuring: {name}…"):
                text, figures = PARTS[name](Bench(server, options.python, scale))
            print(text, flush=True)
            measured |= figures
    if options.plots:
        folder = Path(options.plots)
        drawn = plots.draw(measured.get("growth", []), folder)
        drawn += plots.draw_servers(measured.get("mcp", []), folder)
        drawn += evaluation_plot.draw_evaluation(measured.get("evaluation"), folder)
        for path in [*drawn, *plots.draw_page(measured.get("page"), folder)]:
            print(path)
    if options.json:
        text = json.dumps(tables.to_json({**facts, **measured}), indent=2)
        Path(options.json).write_text(text + "\n", encoding="utf-8")


Result = tuple[str, dict[str, Any]]
"""The text to print, and the figures in it by name."""


class Bench:
    """The parts of the benchmark. Each measures, and returns its tables and figures."""

    def __init__(self, server: Server, python: str, scale: Scale) -> None:
        self.server = server
        self.scale = scale
        self.program = measurements.load_program("orders.py", "first", python=python)
        self.drivers: list[Driver] = [
            DebugpyDriver(STOCK),
            DebugpyDriver(QUICK_ACK, quick_ack=True),
            HoldfastDriver(HOLDFAST, server),
        ]

    def measure_program_runs(self) -> Result:
        readings = program_runs.measure(self.drivers, self.program, self.scale.effort)
        self.server.wait_for_interpreters()
        server_mb, warm_mb = self.server.measure_all_memory()
        rows = measurements.build_rows(readings, program_runs.UNITS)
        parts = measure_step_parts(self.program, self.scale.effort, readings[HOLDFAST])
        text = (
            f"## Holdfast beside stock debugpy\n\n{tables.format_rows(rows)}\n"
            f"The server, one for all sessions: {server_mb:.0f} MB; "
            f"its warm interpreters: {warm_mb:.0f} MB.\n\n"
            f"## Where the time of a step goes\n\n{tables.format_figures(parts)}"
        )
        memory = {"server_mb": server_mb, "ready_interpreters_mb": warm_mb}
        return text, {"rows": rows, "inside": parts, **memory}

    def measure_breakpoints(self) -> Result:
        python = self.program.python
        pythons = find_pythons() if self.scale.every_python else {read_version(python, 2): python}
        readings = hot_loops.measure(self.drivers, pythons)
        rows = measurements.build_rows(readings, hot_loops.units(pythons))
        text = f"## Breakpoints in a hot loop, per iteration\n\n{tables.format_rows(rows)}"
        return text, {"breakpoints": rows}

    def measure_quiet_loops(self) -> Result:
        python = self.program.python
        pythons = find_pythons() if self.scale.every_python else {read_version(python, 2): python}
        slowdowns = quiet_loops.measure(self.server, pythons)
        text = f"## Code that could not stop\n\n{tables.format_slowdowns(slowdowns)}"
        return text, {"quiet": slowdowns}

    def measure_watches(self) -> Result:
        python = self.program.python
        pythons = find_pythons() if self.scale.every_python else {read_version(python, 2): python}
        ratios = watched_writes.measure(self.server, pythons)
        text = f"## Data breakpoints that do not stop\n\n{tables.format_ratios(ratios)}"
        return text, {"watches": ratios}

    def measure_editors(self) -> Result:
        ratios = editor_steps.measure(self.server, 5 * self.scale.trips)
        text = f"## Editors\n\n{tables.format_ratios(ratios)}"
        return text, {"editors": ratios}

    def measure_round_trips(self) -> Result:
        readings = round_trips.measure(self.server, self.scale.trips)
        figures = {name: measurements.summarize(readings.all[name]) for name in round_trips.UNITS}
        text = f"## Status requests\n\n{tables.format_figures(figures, round_trips.BARE)}"
        return text, {"trips": figures}

    def measure_concurrent_sessions(self) -> Result:
        paces = concurrent_sessions.measure(self.server, self.scale.crowd_seconds)
        return f"## Many sessions at once\n\n{tables.format_paces(paces)}", {"crowds": paces}

    def measure_growth(self) -> Result:
        python, steps = self.program.python, self.scale.growth_steps
        curves = growth.measure_steps(self.server, python, steps)
        if self.scale.sessions:
            with contextlib.closing(Server()) as fresh:
                curves += growth.measure_sessions(fresh, self.scale.sessions)
        text = "## Growth\n\n" + "\n".join(map(tables.format_curve, curves))
        return text, {"growth": curves}

    def measure_calls(self) -> Result:
        many, rounds = self.scale.calls, 3 if self.scale.calls < 100_000 else 9
        with contextlib.closing(Server("--pool-size", "0")) as server:
            strict = calls.measure_strict(server, rounds)
            large = calls.measure_large_argument(server, rounds)
            leased = calls.measure_leased(server, rounds, 20_000)
            persisted = calls.measure_persisted(
                server, rounds, max(20_000, many // 10), leased.base
            )
            ratios = [strict, large, leased, persisted, calls.measure_stack(rounds)]
            escapes = calls.check_escapes(server, many)
        ratios += [
            call_store.measure_ingest(max(20_000, many // 5)),
            call_store.measure_last_hundred(10_000, many),
        ]
        text = f"## Calls\n\n{tables.format_ratios(ratios)}\n{tables.format_escapes(escapes)}"
        return text, {"calls": ratios, "storm": escapes}

    def measure_agents(self) -> Result:
        few = self.scale.calls < 100_000
        ratios = agents.measure_recording(3 if few else 15, 300 if few else 3_000)
        ratios += [agents.measure_decision_by_file(5 if few else 50)]
        with contextlib.closing(Server("--pool-size", "0")) as server:
            ratios += [agents.measure_decision_by_server(server, 5 if few else 200)]
        replay = agents.check_replay(50 if few else 1_000)
        text = f"## Agent loops\n\n{tables.format_ratios(ratios)}\n{tables.format_replay(replay)}"
        return text, {"agents": ratios, "replayed": replay}

    def measure_mcp(self) -> Result:
        rows, ratios = comparison.measure(self.scale.effort.rounds, has_peers=self.scale.has_peers)
        steps = layers.measure(self.server, 5 * self.scale.trips)
        text = (
            f"## Agents over MCP\n\n{tables.format_servers(rows)}\n{tables.format_ratios(ratios)}\n"
            f"{tables.format_figures(steps, layers.REST)}"
        )
        return text, {"mcp": rows, "mcp_ratios": ratios, "mcp_steps": steps}

    def measure_traces(self) -> Result:
        pythons = find_pythons() if self.scale.every_python else {"this": sys.executable}
        ratios = traced_frames.measure(pythons)
        return f"## Traces\n\n{tables.format_ratios(ratios)}", {"traces": ratios}

    def measure_evaluation(self) -> Result:
        has_all = self.scale.has_peers
        programs = ALL_PROGRAMS if has_all else evaluation.select(*evaluation.QUICK)
        found = evaluation.measure(has_peers=self.scale.has_peers, programs=programs)
        text = evaluation_tables.format_evaluation(found)
        return f"## What it takes to find a bug\n\n{text}", {"evaluation": found}

    def measure_page(self) -> Result:
        scale = page_figures.QUICK if self.scale.calls < 100_000 else page_figures.FULL
        measured = page_figures.measure(self.server, scale)
        return f"## The page\n\n{page_figures.format_figures(measured)}", {"page": measured}


PARTS: dict[str, Callable[[Bench], Result]] = {
    "lives": Bench.measure_program_runs,
    "breakpoints": Bench.measure_breakpoints,
    "quiet": Bench.measure_quiet_loops,
    "watches": Bench.measure_watches,
    "editors": Bench.measure_editors,
    "trips": Bench.measure_round_trips,
    "crowds": Bench.measure_concurrent_sessions,
    "growth": Bench.measure_growth,
    "calls": Bench.measure_calls,
    "agents": Bench.measure_agents,
    "mcp": Bench.measure_mcp,
    "traces": Bench.measure_traces,
    "evaluation": Bench.measure_evaluation,
    "page": Bench.measure_page,
}


def measure_step_parts(program: Program, effort: Effort, over_http: Readings) -> dict[str, Figure]:
    without_http = Readings()
    for _ in range(effort.rounds):
        step_parts.measure(program, effort.steps, without_http)
    readings = {
        "a status request, over HTTP": over_http.all[program_runs.STATUS],
        **without_http.all,
        "a step, over HTTP": over_http.all[program_runs.STEP],
    }
    return {name: measurements.summarize(values) for name, values in readings.items()}


def find_pythons() -> dict[str, str]:
    """Return one interpreter of each version that is installed, as the tests find them."""
    sys.path.append(_TESTS)
    import interpreters

    pythons = interpreters.find_interpreters()
    return {".".join(map(str, python.version)): python.path for python in pythons}


def read_version(python: str, parts: int = 3) -> str:
    argv = [python, "-c", "import platform; print(platform.python_version())"]
    printed = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    return ".".join(printed.strip().split(".")[:parts])


def describe_run(python: str, scale: Scale) -> dict[str, Any]:
    return {
        "python": read_version(python),
        "server_python": platform.python_version(),
        "debugpy": importlib.metadata.version("debugpy"),
        "holdfast": importlib.metadata.version("holdfast"),
        "processors": measurements.count_processors(),
        "run": scale,
    }


if __name__ == "__main__":
    main()
