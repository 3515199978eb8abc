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


def measure(server: Server, pythons: dict[str, str]) -> list[Ratio]:
    """`pythons` has the path of an interpreter by its version."""
    ratios = []
    for version, python in pythons.items():
        plain, before, after = _run(server, python)
        for (name, limit), taken in zip(_WATCHED.items(), after, strict=False):
            label = f"{version}: {name} = …, watched"
            ratios.append(Ratio(label, "ns", taken, "a plain attribute", plain[0], limit))
        rest = zip(_UNWATCHED, before[len(_WATCHED) :], after[len(_WATCHED) :], strict=True)
        for name, then, now in rest:
            label = f"{version}: {name}"
            ratios.append(Ratio(label, "ns", now, "the same, no watches", then, _MAX_SLOWDOWN))
    return ratios


def _run(server: Server, python: str) -> list[list[float]]:
    """The times of each loop: before any stop, after one, and while its writes are watched."""
    stops = [
        {"file": str(_PROGRAM), "line": find_marked_line(_PROGRAM, marker)}
        for marker in ("looked", "ready")
    ]
    with contextlib.closing(HttpClient(server.url)) as http:
        path = "/sessions/" + http.request("POST", "/sessions", {})["session_id"]
        launch = {"script": str(_PROGRAM), "python": python, "breakpoints": stops, "wait": True}
        http.request("POST", f"{path}/launch", launch)
        http.request("POST", f"{path}/continue", {"wait": True})
        watches = [{"name": name, "condition": "new == -1"} for name in _WATCHED]
        made = http.request("POST", f"{path}/data-breakpoints", watches)
        if not all(point["verified"] for point in made["breakpoints"]):
            raise AssertionError(made)
        end = http.request("POST", f"{path}/continue", {"wait": True})
        if end["status"] != "terminated":
            raise AssertionError(end)
        output = http.request("GET", f"{path}/output?type=stdout")["outputs"]
        http.request("DELETE", f"{path}/breakpoints")
        http.request("DELETE", path)
    times: list[list[float]] = json.loads("".join(entry["text"] for entry in output))
    return times
