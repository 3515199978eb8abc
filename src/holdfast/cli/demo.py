"""The demonstration: an agent finds a bug in a handful of requests.

The server is a private one and the program a copy; both are gone afterwards. What the agent says
is written down here, but what it concludes comes from the answers: were they others, the bug
would not be found.
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
from typing import Any

from holdfast.cli.demo_view import View
from holdfast.client.http_client import HttpClient

_PROGRAM = Path(__file__).with_name("demo_program.py")
_WAIT = 20


@dataclass(frozen=True)
class Step:
    """One request: why it was made, what it was, and what came back."""

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
        view = None if as_json else View(program)
        with _server(Path(folder)) as url:
            if view:
                view.introduce(url)
            seen = [steps.append, *([view.step] if view else [])]
            agent = Agent(url, lambda step: [each(step) for each in seen])
            finding = investigate(agent, program)
    totals = _totals(steps)
    if view:
        view.conclude(finding, **totals)
    else:
        shown = {"found": asdict(finding), "steps": [asdict(step) for step in steps], **totals}
        print(json.dumps(shown))
    return 0


def _totals(steps: list[Step]) -> dict[str, Any]:
    return {
        "requests": len(steps),
        "ms": round(sum(step.ms for step in steps), 1),
        "bytes": sum(step.bytes for step in steps),
    }


class Agent:
    """Makes the requests, and lets others see each."""

    def __init__(self, url: str, seen: Callable[[Step], object]) -> None:
        self._client = HttpClient(url)
        self._seen = seen

    def ask(self, why: str, method: str, path: str, body: Any = None) -> Any:
        began = time.perf_counter()
        answer = self._client.request(method, path, body)
        ms = (time.perf_counter() - began) * 1000
        size = len(json.dumps(answer, separators=(",", ":"), ensure_ascii=False).encode())
        self._seen(Step(why, method, path, body, answer, round(ms, 1), size))
        return answer


def investigate(agent: Agent, program: Path) -> Finding:
    """From a wrong figure to the line that makes it wrong."""
    lines = program.read_text(encoding="utf-8").splitlines()
    here = {"file": str(program)}
    result = _line_with(lines, "return amount")
    suspect = _line_with(lines, "+= ")

    opened = agent.ask(
        "Open a session.", "POST", "/sessions", {"name": "carol should pay 54.00, not 51.00"}
    )
    session = f"/sessions/{opened['session_id']}"
    agent.ask(
        "Stop where her discount is computed, and only for her.",
        "POST",
        f"{session}/breakpoints",
        {**here, "line": result, "condition": "amount == 60"},
    )
    wrong = agent.ask(
        "Run to there. The answer brings the place and the locals along.",
        "POST",
        f"{session}/launch",
        {"script": str(program), "wait": _WAIT},
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
    return _finding(lines, wrong, shared, before, after, table)


def _finding(
    lines: list[str], wrong: Any, shared: Any, before: Any, after: Any, table: Any
) -> Finding:
    was, became = values(before)["offer"], values(after)["offer"]
    at = before["location"]
    if shared["result"] != "True" or was == became or table["result"] != became:
        raise RuntimeError("the demonstration did not go as it always does")
    return Finding(
        file=Path(at["file"]).name,
        line=at["line"],
        code=lines[at["line"] - 1].strip(),
        explanation=(
            "It changes the shop's own table, not a copy: after one large order "
            "every member gets the larger discount."
        ),
        evidence=[
            f"the order of {values(before)['customer']} turns offer from {was} into {became}",
            f"OFFERS[{values(after)['level']}] is {table['result']} from then on",
            f"so {values(wrong)['customer']} gets {values(wrong)['offer']} on "
            f"{values(wrong)['amount']}",
        ],
    )


def values(stop: Any) -> dict[str, str]:
    """The locals of a stop, by name."""
    return {each["name"]: each["value"] for each in stop.get("locals", ())}


def _line_with(lines: list[str], text: str) -> int:
    return next(number for number, line in enumerate(lines, 1) if text in line)


@contextlib.contextmanager
def _server(folder: Path) -> Iterator[str]:
    """A server of our own, on any port, with its data in this folder."""
    ready = folder / "ready.json"
    argv = [sys.executable, "-m", "holdfast", "serve", "--port", "0"]
    argv += ["--data-dir", str(folder / "data"), "--ready-file", str(ready)]
    process = subprocess.Popen(argv, stderr=subprocess.PIPE, text=True, errors="replace")
    assert process.stderr is not None
    said = []
    try:
        for line in process.stderr:  # it says where it is once it answers
            said.append(line)
            if "Holdfast is at" in line:
                break
        else:
            raise RuntimeError(f"the server did not start: {''.join(said)}")
        yield str(json.loads(ready.read_text())["url"])
    finally:
        process.terminate()
        try:
            process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
