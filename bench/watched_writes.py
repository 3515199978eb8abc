"""Data breakpoints that do not stop: what a watched write takes, and what other code takes."""

from __future__ import annotations

import contextlib
import json

from bench.http_client import HttpClient
from bench.measurements import PROGRAMS, Ratio, find_marked_line
from bench.server import Server

_PROGRAM = PROGRAMS / "watched_writes.py"
_WATCHED = {"counter.value": 30.0, "items['key']": 150.0, "total": 150.0}
"""What is watched, and how many plain writes of an attribute one that does not stop may take."""
_UNWATCHED = ("another object's attribute", "a loop that writes nothing watched")
_MAX_SLOWDOWN = 1.05


def measure(server: Server, pythons: dict[str, str], runs: int) -> list[Ratio]:
    """`pythons` has the path of an interpreter by its version. Each value is watched alone.

    The best of so many runs of a loop counts.
    """
    ratios = []
    for version, python in pythons.items():
        others = []
        for number, (name, limit) in enumerate(_WATCHED.items()):
            plain, before, after = _run(server, python, runs, name)
            label = f"{version}: {name} = …, watched"
            ratios.append(Ratio(label, "ns", after[number], "a plain attribute", plain[0], limit))
            others.append(list(zip(before, after, strict=True))[len(_WATCHED) :])
        for number, name in enumerate(_UNWATCHED):
            pairs = sorted((run[number] for run in others), key=lambda pair: pair[1] / pair[0])
            then, now = pairs[len(pairs) // 2]
            label = f"{version}: {name}"
            ratios.append(Ratio(label, "ns", now, "the same, no watches", then, _MAX_SLOWDOWN))
    return ratios


def _run(server: Server, python: str, runs: int, name: str) -> list[list[float]]:
    """The times of each loop: before any stop, after one, and while a value is watched."""
    stops = [
        {"file": str(_PROGRAM), "line": find_marked_line(_PROGRAM, marker)}
        for marker in ("looked", "ready")
    ]
    with contextlib.closing(HttpClient(server.url)) as http:
        path = "/sessions/" + http.request("POST", "/sessions", {})["session_id"]
        program = {"script": str(_PROGRAM), "args": [str(runs)], "python": python}
        launch = {**program, "breakpoints": stops, "wait": True}
        http.request("POST", f"{path}/launch", launch)
        http.request("POST", f"{path}/continue", {"wait": True})
        watch = {"name": name, "condition": "new == -1"}
        made = http.request("POST", f"{path}/data-breakpoints", watch)
        if not made["verified"]:
            raise AssertionError(made)
        end = http.request("POST", f"{path}/continue", {"wait": True})
        if end["status"] != "terminated":
            raise AssertionError(end)
        output = http.request("GET", f"{path}/output?type=stdout")["outputs"]
        http.request("DELETE", f"{path}/breakpoints")
        http.request("DELETE", path)
    times: list[list[float]] = json.loads("".join(entry["text"] for entry in output))
    return times
