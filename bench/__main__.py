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
from collections.abc import Callable, Iterator
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

sys.path.append(str(Path(__file__).parents[1] / "tests"))
STOCK = "stock debugpy"
QUICK_ACK = "quick ack"
HOLDFAST = "Holdfast"


@dataclass(frozen=True)
class Scale:
    """How much of everything a run does."""

    effort: Effort
    trips: int
    crowds: tuple[int, ...]
    crowd_seconds: float
    growth_steps: int
    growth_sizes: int
    sessions: int
    calls: int
    agent_steps: int
    is_quick: bool = False
    """On one Python, without the other MCP servers, and with as few repetitions as work."""

    def repeat(self, count: int) -> int:
        return 1 if self.is_quick else count


_FULL = Scale(
    effort=Effort(rounds=6, steps=20, evaluations=10),
    trips=50,
    crowds=(1, 10, 30),
    crowd_seconds=3.0,
    growth_steps=100,
    growth_sizes=4,
    sessions=300,
    calls=1_000_000,
    agent_steps=1_000,
)
_QUICK = Scale(
    effort=Effort(rounds=1, steps=2, evaluations=1),
    trips=1,
    crowds=(1, 3),
    crowd_seconds=0.1,
    growth_steps=1,
    growth_sizes=2,
    sessions=1,
    calls=10_000,
    agent_steps=5,
    is_quick=True,
)


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="as few repetitions as work, in seconds"
    )
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
    watch_this_run()
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
        pythons = self._choose_pythons()
        readings = hot_loops.measure(self.drivers, pythons, self.scale.repeat(5))
        rows = measurements.build_rows(readings, hot_loops.units(pythons))
        text = f"## Breakpoints in a hot loop, per iteration\n\n{tables.format_rows(rows)}"
        return text, {"breakpoints": rows}

    def measure_quiet_loops(self) -> Result:
        pythons = self._choose_pythons()
        slowdowns = quiet_loops.measure(self.server, pythons, self.scale.repeat(5))
        text = f"## Code that could not stop\n\n{tables.format_slowdowns(slowdowns)}"
        return text, {"quiet": slowdowns}

    def measure_watches(self) -> Result:
        pythons = self._choose_pythons()
        ratios = watched_writes.measure(self.server, pythons, self.scale.repeat(9))
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
        scale = self.scale
        paces = concurrent_sessions.measure(self.server, scale.crowd_seconds, scale.crowds)
        return f"## Many sessions at once\n\n{tables.format_paces(paces)}", {"crowds": paces}

    def measure_growth(self) -> Result:
        python, scale = self.program.python, self.scale
        curves = growth.measure_steps(self.server, python, scale.growth_steps, scale.growth_sizes)
        if scale.sessions:
            with self._open_server() as fresh:
                curves += growth.measure_sessions(fresh, scale.sessions)
        text = "## Growth\n\n" + "\n".join(map(tables.format_curve, curves))
        return text, {"growth": curves}

    def measure_calls(self) -> Result:
        many, rounds = self.scale.calls, self.scale.repeat(9)
        few = min(20_000, many)
        with self._open_server("--pool-size", "0") as server:
            strict = calls.measure_strict(server, rounds)
            large = calls.measure_large_argument(server, rounds)
            leased = calls.measure_leased(server, rounds, few)
            persisted = calls.measure_persisted(server, rounds, max(few, many // 10), leased.base)
            ratios = [strict, large, leased, persisted, calls.measure_stack(rounds)]
            escapes = calls.check_escapes(server, many)
        ratios += [call_store.measure_ingest(max(few, many // 5))]
        with self._open_server("--pool-size", "0") as server:
            ratios += [call_store.measure_last_hundred(server, few // 2, many)]
        text = f"## Calls\n\n{tables.format_ratios(ratios)}\n{tables.format_escapes(escapes)}"
        return text, {"calls": ratios, "storm": escapes}

    def measure_agents(self) -> Result:
        repeat, steps = self.scale.repeat, self.scale.agent_steps
        ratios = agents.measure_recording(repeat(15), 3 * steps)
        ratios += [agents.measure_decision_by_file(repeat(50))]
        with self._open_server("--pool-size", "0") as server:
            ratios += [agents.measure_decision_by_server(server, repeat(200))]
        replay = agents.check_replay(steps)
        text = f"## Agent loops\n\n{tables.format_ratios(ratios)}\n{tables.format_replay(replay)}"
        return text, {"agents": ratios, "replayed": replay}

    def measure_mcp(self) -> Result:
        scale = self.scale
        url = self.server.url if scale.is_quick else None
        rows, ratios = comparison.measure(scale.effort.rounds, url)
        steps = layers.measure(self.server, 5 * scale.trips)
        text = (
            f"## Agents over MCP\n\n{tables.format_servers(rows)}\n{tables.format_ratios(ratios)}\n"
            f"{tables.format_figures(steps, layers.REST)}"
        )
        return text, {"mcp": rows, "mcp_ratios": ratios, "mcp_steps": steps}

    def measure_traces(self) -> Result:
        pythons = {"this": sys.executable} if self.scale.is_quick else find_pythons()
        ratios = traced_frames.measure(pythons, self.scale.repeat(4))
        return f"## Traces\n\n{tables.format_ratios(ratios)}", {"traces": ratios}

    def measure_evaluation(self) -> Result:
        is_quick = self.scale.is_quick
        programs = evaluation.select(*evaluation.QUICK) if is_quick else ALL_PROGRAMS
        found = evaluation.measure(has_peers=not is_quick, programs=programs)
        text = evaluation_tables.format_evaluation(found)
        return f"## What it takes to find a bug\n\n{text}", {"evaluation": found}

    def measure_page(self) -> Result:
        scale = page_figures.QUICK if self.scale.is_quick else page_figures.FULL
        measured = page_figures.measure(self.server, self._open_server, scale)
        return f"## The page\n\n{page_figures.format_figures(measured)}", {"page": measured}

    @contextlib.contextmanager
    def _open_server(self, *options: str) -> Iterator[Server]:
        """A server that nothing else was measured on, unless it must be quick."""
        if self.scale.is_quick:
            yield self.server
        else:
            with contextlib.closing(Server(*options)) as fresh:
                yield fresh

    def _choose_pythons(self) -> dict[str, str]:
        """By version."""
        python = self.program.python
        return {read_version(python, 2): python} if self.scale.is_quick else find_pythons()


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


def watch_this_run() -> None:
    """Whatever is measured ends with this process, also when it is killed."""
    import run_watcher

    run_watcher.watch_this_run()


def find_pythons() -> dict[str, str]:
    """Return one interpreter of each version that is installed, as the tests find them."""
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
