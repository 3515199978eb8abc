"""Holdfast as an agent drives it: a real server, and one HTTP connection."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil

from bench.http import Http
from bench.measuring import (
    COLD,
    END,
    EVALUATE,
    LAUNCH,
    MEMORY,
    STATUS,
    STEP,
    Effort,
    Program,
    Readings,
    megabytes,
)

HEALTH = "GET /health"


class Holdfast:
    def __init__(self, name: str) -> None:
        self.name = name
        self._folder = tempfile.TemporaryDirectory(prefix="holdfast-bench-")
        folder = Path(self._folder.name)
        ready = folder / "ready.json"
        argv = [sys.executable, "-m", "holdfast", "serve", "--port", "0"]
        argv += ["--data-dir", str(folder / "data"), "--ready-file", str(ready)]
        self._process = subprocess.Popen(argv, stderr=subprocess.PIPE)
        try:
            assert self._process.stderr is not None
            for line in self._process.stderr:  # the server says where it is once it answers
                if b"Holdfast is at" in line:
                    break
            self._url = json.loads(ready.read_text())["url"]
        except BaseException:
            self._process.kill()
            self._process.wait()
            raise

    def live(self, program: Program, effort: Effort, readings: Readings) -> None:
        # While the others had their turn the server may have closed an idle connection.
        with contextlib.closing(Http(self._url)) as self._http:
            self._live(program, effort, readings)

    def _live(self, program: Program, effort: Effort, readings: Readings) -> None:
        self._cold_launch(program, readings)
        self._refilled()
        with readings.timed(LAUNCH):
            session, stop = self._launch(program)
        readings.trail = [_line(stop)]
        # A new interpreter is being made ready in the background. Clients, who think before their
        # first step, never meet that; we would.
        self._refilled()
        ask = self._http.ask
        for _ in range(effort.steps):
            with readings.timed(STEP):
                stop = ask("POST", f"{session}/step-over")
            readings.trail.append(_line(stop))
        for _ in range(effort.evaluations):
            with readings.timed(EVALUATE):
                ask("POST", f"{session}/evaluate", {"expression": program.expression})
            with readings.timed(STATUS):
                ask("GET", f"{session}/status")
            with readings.timed(HEALTH):
                ask("GET", "/health")
        target = psutil.Process(ask("GET", session)["pid"])
        readings.add(MEMORY, megabytes([target, *target.children(recursive=True)]))
        with readings.timed(END):
            ended = ask("POST", f"{session}/continue", {"wait": True})
        if ended["status"] != "terminated":
            raise AssertionError(ended)
        ask("DELETE", session)

    def _launch(self, program: Program, **options: Any) -> tuple[str, Any]:
        """From no session to the first stop; its path and the stop."""
        ask = self._http.ask
        session = "/sessions/" + ask("POST", "/sessions", {})["session_id"]
        ask("POST", f"{session}/breakpoints", {"file": program.path, "line": program.line})
        launch = {"script": program.path, "python": program.python, "wait": True, **options}
        return session, ask("POST", f"{session}/launch", launch)

    def _cold_launch(self, program: Program, readings: Readings) -> None:
        with readings.timed(COLD):
            # An interpreter reads such variables when it starts, so a waiting one will not do.
            session, stop = self._launch(program, env={"PYTHONBENCH": "cold"})
        _line(stop)
        self._http.ask("DELETE", session)

    def _refilled(self) -> None:
        """Wait until as many interpreters stand ready as the server wants to have."""
        wanted = self._http.ask("GET", "/config")["pool_size"]
        end = time.monotonic() + 10
        while time.monotonic() < end:
            if min(self._http.ask("GET", "/info")["warm_interpreters"].values()) >= wanted:
                return
            time.sleep(0.01)

    def footprint(self) -> tuple[float, float]:
        """MB of the server with its helpers, and of the interpreters that stand ready."""
        with contextlib.closing(Http(self._url)) as self._http:
            self._refilled()
        server = psutil.Process(self._process.pid)
        spare = [each for each in server.children() if "boot.py" in " ".join(each.cmdline())]
        helpers = [each for each in server.children() if each not in spare]
        return megabytes([server, *helpers]), megabytes(spare)

    def close(self) -> None:
        self._process.terminate()
        self._process.communicate()
        self._folder.cleanup()


def _line(stop: Any) -> int:
    if stop["status"] != "paused" or "locals" not in stop:
        raise AssertionError(stop)
    line: int = stop["location"]["line"]
    return line
