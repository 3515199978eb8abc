"""`holdfast demo`: an agent finds a bug in a few requests.

It starts a server of its own and debugs a copy of the program. Both are removed afterwards. The
requests are fixed, but the conclusion is computed from the answers.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypedDict

from holdfast.cli.demo_view import DemoView
from holdfast.client.http_client import HttpClient

_PROGRAM = Path(__file__).with_name("demo_program.py")
_WAIT = 20


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


def run(*, as_json: bool) -> int:
    steps: list[Step] = []
    with tempfile.TemporaryDirectory(prefix="holdfast-demo-") as folder:
        program = Path(folder) / "checkout.py"
        shutil.copyfile(_PROGRAM, program)
        view = None if as_json else DemoView(program)
        with _start_server(Path(folder)) as url:
            if view:
                view.show_program(url)
            listeners = [steps.append, *([view.show_step] if view else [])]
            agent = Agent(url, lambda step: [listener(step) for listener in listeners])
            finding = investigate(agent, program)
    totals = _add_up(steps)
    if view:
        view.show_finding(finding, **totals)
    else:
        report = {"found": asdict(finding), "steps": [asdict(step) for step in steps], **totals}
        print(json.dumps(report))
    return 0


class Totals(TypedDict):
    requests: int
    ms: float
    bytes: int


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


def investigate(agent: Agent, program: Path) -> Finding:
    """Find the line that makes the total wrong."""
    lines = program.read_text(encoding="utf-8").splitlines()
    here = {"file": str(program)}
    result = _find_line(lines, "return amount")
    suspect = _find_line(lines, "+= ")

    wrong = agent.ask(
        "Run to where her discount is computed. The answer brings the place and the locals along.",
        "POST",
        "/sessions",
        {
            "name": "carol should pay 54.00, not 51.00",
            "launch": {"script": str(program)},
            "breakpoints": [{**here, "line": result, "condition": "amount == 60"}],
            "wait": _WAIT,
        },
    )
    session = f"/sessions/{wrong['session_id']}"
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
        explanation=(
            "It changes the shop's own table, not a copy: after one large order "
            "every member gets the larger discount."
        ),
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


@contextlib.contextmanager
def _start_server(folder: Path) -> Iterator[str]:
    """Run a server on a free port, with its data in this folder."""
    ready = folder / "ready.json"
    argv = [sys.executable, "-m", "holdfast", "serve", "--port", "0"]
    argv += ["--data-dir", str(folder / "data"), "--ready-file", str(ready)]
    process = subprocess.Popen(argv, stderr=subprocess.PIPE, text=True, errors="replace")
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
