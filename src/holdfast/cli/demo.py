"""`holdfast demo`: an agent finds a bug step by step and with one call, and another with traces.

It starts a server of its own and debugs copies of the programs. All are removed afterwards. The
requests are fixed, but the conclusions are computed from the answers.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypedDict
from urllib.parse import urlencode

from holdfast.cli.demo_trace import TracedFinding, investigate_with_traces, write_payments
from holdfast.cli.demo_view import DemoView
from holdfast.client.http_client import HttpClient

_PROGRAM = Path(__file__).with_name("demo_program.py")
_PAYMENTS = Path(__file__).with_name("demo_payments.py")
_WAIT = 60
_WARM = 2
_WARM_SECONDS = 10.0
_EXPLANATION = (
    "It changes the shop's own table, not a copy: after one large order every member gets the "
    "larger discount."
)


@dataclass(frozen=True)
class Step:
    """A request, the reason for it, and its answer."""

    why: str
    method: str
    path: str
    body: Any
    answer: Any
    ms: float
    bytes: int


@dataclass(frozen=True)
class Finding:
    file: str
    line: int
    code: str
    explanation: str
    evidence: list[str]


class Totals(TypedDict):
    requests: int
    ms: float
    bytes: int


def run(*, as_json: bool) -> int:
    with tempfile.TemporaryDirectory(prefix="holdfast-demo-") as folder:
        program = Path(folder) / "checkout.py"
        shutil.copyfile(_PROGRAM, program)
        view = None if as_json else DemoView(program)
        with _start_server(Path(folder)) as url:
            if view:
                view.show_program(url)
            steps: list[Step] = []
            listeners = [steps.append, *([view.show_step] if view else [])]
            agent = Agent(url, lambda step: [listener(step) for listener in listeners])
            finding = _investigate_orders(agent, view, program)
            *many, one = steps
            before, after = _add_up(many), _add_up([one])
            if view:
                view.show_finding(finding, before, after)
            traced = _investigate_payments(agent, view, Path(folder))
            three = steps[len(many) + 1 :]
    if view:
        view.show_traced(traced, _add_up(three))
    else:
        report = {
            "found": asdict(finding),
            "run": asdict(one),
            "one_call": after,
            "steps": [asdict(step) for step in many],
            "step_by_step": before,
            "traced": asdict(traced),
            "traces": [asdict(step) for step in three],
        }
        print(json.dumps(report))
    return 0


def _investigate_orders(agent: Agent, view: DemoView | None, program: Path) -> Finding:
    """Find one bug twice: step by step, and with one call."""
    agent.wait_until_warm()
    step_by_step = investigate(agent, program)
    agent.wait_until_warm()
    if view:
        view.begin_one_call()
    finding = investigate_at_once(agent, program)
    if (finding.line, finding.code) != (step_by_step.line, step_by_step.code):
        raise RuntimeError("the two ways did not find the same line")
    return finding


def _investigate_payments(agent: Agent, view: DemoView | None, folder: Path) -> TracedFinding:
    program, payments = folder / "payments.py", folder / "payments.csv"
    shutil.copyfile(_PAYMENTS, program)
    write_payments(payments)
    agent.wait_until_warm()
    if view:
        view.begin_traces(program)
    return investigate_with_traces(agent.ask, program, payments)


def _add_up(steps: list[Step]) -> Totals:
    return {
        "requests": len(steps),
        "ms": round(sum(step.ms for step in steps), 1),
        "bytes": sum(step.bytes for step in steps),
    }


class Agent:
    """Makes the requests, and passes each on to a listener."""

    def __init__(self, url: str, listener: Callable[[Step], object]) -> None:
        self._client = HttpClient(url)
        self._listener = listener

    def ask(self, why: str, method: str, path: str, body: Any = None) -> Any:
        start = time.perf_counter()
        answer = self._client.request(method, path, body)
        ms = (time.perf_counter() - start) * 1000
        size = len(json.dumps(answer, separators=(",", ":"), ensure_ascii=False).encode())
        self._listener(Step(why, method, path, body, answer, round(ms, 1), size))
        return answer

    def wait_until_warm(self) -> None:
        """Wait until interpreters are ready, as they are at a server that has run for a while."""
        deadline = time.monotonic() + _WARM_SECONDS
        while time.monotonic() < deadline:
            warm = self._client.request("GET", "/info")["warm_interpreters"].values()
            if sum(warm) >= _WARM:
                return
            time.sleep(0.02)


# -- with one call --------------------------------------------------------------------------------


def investigate_at_once(agent: Agent, program: Path) -> Finding:
    """Find the line that makes the total wrong with one experiment."""
    lines = program.read_text(encoding="utf-8").splitlines()
    suspect, result = _find_line(lines, "+= "), _find_line(lines, "return amount")
    report = agent.ask(
        "Where the offer changes and where it counts: whose order, what percent, whose table?",
        "POST",
        f"/api/v1/run?{urlencode({'client': 'demo', 'cwd': str(program.parent)})}",
        {
            "target": program.name,
            "breakpoints": [f"{program.name}:{suspect}", f"{program.name}:{result}"],
            "collect": ["customer", "offer['percent']", "offer is OFFERS[level]"],
        },
    )
    return _conclude_from_rows(lines, report["rows"])


def _conclude_from_rows(lines: list[str], rows: list[list[str]]) -> Finding:
    """The line after which the percentage of the same customer is another one."""
    for row, following in itertools.pairwise(rows):
        (at, customer, was, is_shared), (_, then, became, _) = row, following
        if customer == then and was != became and is_shared == "True":
            file, _, line = at.rpartition(":")
            later = [(who, percent) for _, who, percent, _ in rows[rows.index(following) + 1 :]]
            return Finding(
                file=Path(file).name,
                line=int(line),
                code=lines[int(line) - 1].strip(),
                explanation=_EXPLANATION,
                evidence=[
                    f"at the order of {customer} it turns {was} percent into {became}",
                    "offer is OFFERS[level] is True: that is the shop's own table",
                    *(f"so {who} gets {percent} percent, too" for who, percent in later),
                ],
            )
    raise RuntimeError("the rows do not show the bug of the demo program")


# -- step by step ---------------------------------------------------------------------------------


def investigate(agent: Agent, program: Path) -> Finding:
    """Find the line that makes the total wrong with one request for each thing."""
    lines = program.read_text(encoding="utf-8").splitlines()
    here = {"file": str(program)}
    result = _find_line(lines, "return amount")
    suspect = _find_line(lines, "+= ")

    made = agent.ask(
        "Carol should pay 54.00, not 51.00. Begin a session.",
        "POST",
        "/sessions",
        {"name": "carol should pay 54.00"},
    )
    session = f"/sessions/{made['session_id']}"
    agent.ask(
        "Stop where her discount is computed.",
        "POST",
        f"{session}/breakpoints",
        {**here, "line": result, "condition": "amount == 60"},
    )
    wrong = agent.ask(
        "Run to there.", "POST", f"{session}/launch", {"script": str(program), "wait": _WAIT}
    )
    shared = agent.ask(
        "Fifteen percent? A member gets ten. Is this the shop's own table?",
        "POST",
        f"{session}/evaluate",
        {"expression": "offer is OFFERS[level]"},
    )
    agent.ask(
        "It is. Only one line writes to it, so stop there.",
        "POST",
        f"{session}/breakpoints",
        {**here, "line": suspect},
    )
    before = agent.ask("Run it again.", "POST", f"{session}/restart", {"wait": _WAIT})
    after = agent.ask("Let that line run.", "POST", f"{session}/step-over")
    table = agent.ask(
        "And the table?", "POST", f"{session}/evaluate", {"expression": "OFFERS[level]"}
    )
    agent.ask("Done. The program ends with its session.", "DELETE", session)
    return _conclude(lines, wrong, shared, before, after, table)


def _conclude(
    lines: list[str], wrong: Any, shared: Any, before: Any, after: Any, table: Any
) -> Finding:
    was, became = read_locals(before)["offer"], read_locals(after)["offer"]
    at = before["location"]
    if shared["result"] != "True" or was == became or table["result"] != became:
        raise RuntimeError("the answers do not show the bug of the demo program")
    return Finding(
        file=Path(at["file"]).name,
        line=at["line"],
        code=lines[at["line"] - 1].strip(),
        explanation=_EXPLANATION,
        evidence=[
            f"the order of {read_locals(before)['customer']} turns offer from {was} into {became}",
            f"OFFERS[{read_locals(after)['level']}] is {table['result']} from then on",
            f"so {read_locals(wrong)['customer']} gets {read_locals(wrong)['offer']} on "
            f"{read_locals(wrong)['amount']}",
        ],
    )


def read_locals(stop: Any) -> dict[str, str]:
    """The locals of a stop, by name."""
    return {variable["name"]: variable["value"] for variable in stop.get("locals", ())}


def _find_line(lines: list[str], text: str) -> int:
    return next(number for number, line in enumerate(lines, 1) if text in line)


# -- the server -----------------------------------------------------------------------------------


@contextlib.contextmanager
def _start_server(folder: Path) -> Iterator[str]:
    """Run a server on a free port, with its data and its caches in this folder."""
    ready = folder / "ready.json"
    argv = [sys.executable, "-m", "holdfast", "serve", "--port", "0"]
    argv += ["--data-dir", str(folder / "data"), "--ready-file", str(ready)]
    env = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
    process = subprocess.Popen(argv, stderr=subprocess.PIPE, text=True, errors="replace", env=env)
    assert process.stderr is not None
    output = []
    try:
        for line in process.stderr:  # it prints its address once it accepts connections
            output.append(line)
            if "Holdfast is at" in line:
                break
        else:
            raise RuntimeError(f"the server did not start: {''.join(output)}")
        yield str(json.loads(ready.read_text())["url"])
    finally:
        process.terminate()
        try:
            process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
