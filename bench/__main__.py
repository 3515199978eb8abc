"""`python -m bench`: measure, show, and keep the figures if asked."""

from __future__ import annotations

import argparse
import contextlib
import importlib.metadata
import json
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

from bench import holdfast_http, inside, measuring, table
from bench.holdfast_http import Holdfast
from bench.measuring import Driver, Effort, Figure, Program, Readings
from bench.stock import Stock

PROGRAM = Path(__file__).parent / "programs" / "orders.py"
STOCK = "stock debugpy"
QUICK_ACK = "quick ack"
HOLDFAST = "Holdfast"
_USUAL, _QUICK = Effort(rounds=10, steps=20, evaluations=10), Effort(2, 8, 4)
_LEGEND = f"""\
{STOCK}: its adapter and launcher over DAP, as clients drive it; a step is next, stopped,
stackTrace, scopes and variables. {QUICK_ACK}: the same, with TCP_QUICKACK in the adapter.
{HOLDFAST}: a running server over HTTP; a step is one request. A launch counts everything from
no adapter, or no session, to the first stop; "nothing prepared" means that no interpreter stands
ready either. DAP has no status; its cheapest question is `threads`. Memory is the PSS of all
processes of one session. All in one run, in turn, on the same program.
"""


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few repetitions, below half a minute")
    parser.add_argument("--python", default=sys.executable, help="the interpreter of the program")
    parser.add_argument("--json", metavar="PATH", help="write the figures here")
    parser.add_argument("--rounds", type=int, help="lives of the program, for each peer")
    parser.add_argument("--steps", type=int, help="steps in each life")
    return parser.parse_args()


def main() -> None:
    given = options()
    chosen = _QUICK if given.quick else _USUAL
    steps = given.steps or chosen.steps
    effort = Effort(given.rounds or chosen.rounds, steps, chosen.evaluations)
    program = Program(str(PROGRAM), measuring.marked_line(PROGRAM, "first"), given.python)
    console = table.console()
    facts = about(given.python, effort)
    console.print(
        f"Python {facts['python']} under debugpy {facts['debugpy']}, {facts['processors']} cores; "
        f"{effort.rounds} rounds of {effort.steps} steps",
        highlight=False,
    )
    with contextlib.ExitStack() as stack, console.status("measuring…"):
        ours = Holdfast(HOLDFAST)
        peers = [Stock(STOCK), Stock(QUICK_ACK, acknowledge_at_once=True)]
        drivers: list[Driver] = [*peers, ours]
        for driver in drivers:
            stack.callback(driver.close)
        readings = measuring.in_turn(drivers, program, effort)
        server, spare = ours.footprint()
        parts = where_a_step_goes(program, effort, readings[HOLDFAST])
    rows = measuring.rows(readings)
    table.show(console, "Holdfast beside stock debugpy", rows)
    console.print(_LEGEND, highlight=False)
    console.print(
        f"The server, one for all sessions: {server:.0f} MB; "
        f"its interpreters that stand ready: {spare:.0f} MB.\n",
        highlight=False,
    )
    table.show_parts(console, "Where the time of a Holdfast step goes", parts)
    if given.json:
        facts |= {"server_mb": server, "ready_interpreters_mb": spare}
        shown = table.document(facts, rows, parts)
        Path(given.json).write_text(json.dumps(shown, indent=2) + "\n", encoding="utf-8")


def where_a_step_goes(program: Program, effort: Effort, over_http: Readings) -> dict[str, Figure]:
    within = Readings()
    for _ in range(effort.rounds):
        inside.measure(program, effort.steps, within)
    all_of_them = {
        "a question to the server and back (GET /health)": over_http.all[holdfast_http.HEALTH],
        inside.HOP: within.all[inside.HOP],
        inside.STEP_INSIDE: within.all[inside.STEP_INSIDE],
        "a step, over HTTP": over_http.all[measuring.STEP],
    }
    return {name: measuring.figure(values) for name, values in all_of_them.items()}


def about(python: str, effort: Effort) -> dict[str, Any]:
    asked = [python, "-c", "import platform; print(platform.python_version())"]
    version = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    return {
        "python": version,
        "server_python": platform.python_version(),
        "debugpy": importlib.metadata.version("debugpy"),
        "holdfast": importlib.metadata.version("holdfast"),
        "processors": measuring.processors(),
        "rounds": effort.rounds,
        "steps": effort.steps,
    }


if __name__ == "__main__":
    main()
