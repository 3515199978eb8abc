"""Code that could not stop: what calls, generators and lines take, compared with plain Python."""

from __future__ import annotations

import contextlib
import json
import subprocess
from dataclasses import dataclass
from typing import Any

from bench.http_client import HttpClient
from bench.measurements import PROGRAMS, find_marked_line
from bench.server import Server

_PROGRAM = PROGRAMS / "quiet_loops.py"
_OTHER = PROGRAMS / "hot_loops.py"
LOOPS = ("a call", "a generator's turn", "a loop's turn")
CASES: dict[str, dict[str, Any]] = {
    "nothing set": {},
    "a breakpoint in another file": {
        "breakpoints": [{"file": str(_OTHER), "line": find_marked_line(_OTHER, "done")}]
    },
    "a breakpoint in another function": {
        "breakpoints": [{"file": str(_PROGRAM), "line": find_marked_line(_PROGRAM, "elsewhere")}]
    },
    "a stop for each raised exception": {"stop_on_exception": True},
}


@dataclass(frozen=True)
class Slowdown:
    version: str
    case: str
    ratios: list[float]
    """Of each loop to the same loop without a debugger."""


def measure(server: Server, pythons: dict[str, str], runs: int) -> list[Slowdown]:
    """`pythons` has the path of an interpreter by its version. The best of so many runs counts."""
    slowdowns = []
    for version, python in pythons.items():
        for case, options in CASES.items():
            plain = _run_plain(python, runs)
            with_debugger = _run(server, python, runs, **options)
            ratios = [ours / base for ours, base in zip(with_debugger, plain, strict=True)]
            slowdowns.append(Slowdown(version, case, ratios))
    return slowdowns


def _run_plain(python: str, runs: int) -> list[float]:
    argv = [python, str(_PROGRAM), str(runs)]
    return _parse(subprocess.run(argv, capture_output=True, text=True, check=True).stdout)


def _run(
    server: Server,
    python: str,
    runs: int,
    breakpoints: list[dict[str, Any]] | None = None,
    **options: Any,
) -> list[float]:
    server.wait_for_interpreters()
    with contextlib.closing(HttpClient(server.url)) as http:
        path = "/sessions/" + http.request("POST", "/sessions", {})["session_id"]
        for breakpoint_ in breakpoints or ():
            http.request("POST", f"{path}/breakpoints", breakpoint_)
        start = {"script": str(_PROGRAM), "args": [str(runs)], "python": python, "wait": True}
        end = http.request("POST", f"{path}/launch", {**start, **options})
        if end["status"] != "terminated":
            raise AssertionError(end)
        output = http.request("GET", f"{path}/output?type=stdout")["outputs"]
        http.request("DELETE", path)
    return _parse("".join(entry["text"] for entry in output))


def _parse(printed: str) -> list[float]:
    costs: list[float] = json.loads(printed)
    return costs
