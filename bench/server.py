"""A Holdfast server that the benchmark starts, and sessions on it."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil

from bench.http_client import HttpClient
from bench.measurements import Program, measure_memory


class Server:
    def __init__(self, *options: str, env: dict[str, str] | None = None) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="holdfast-bench-")
        folder = Path(self._folder.name)
        self.data_dir = folder / "data"
        ready = folder / "ready.json"
        argv = [sys.executable, "-m", "holdfast", "serve", "--port", "0", *options]
        argv += ["--data-dir", str(self.data_dir), "--ready-file", str(ready)]
        environment = {**os.environ, **(env or {})}
        self._process = subprocess.Popen(argv, stderr=subprocess.PIPE, env=environment)
        try:
            assert self._process.stderr is not None
            for line in self._process.stderr:  # the server prints its address once it answers
                if b"Holdfast is at" in line:
                    break
            self.url: str = json.loads(ready.read_text())["url"]
        except BaseException:
            self._process.kill()
            self._process.wait()
            raise

    def close(self) -> None:
        self._process.terminate()
        self._process.communicate()
        self._folder.cleanup()

    def wait_for_interpreters(self) -> None:
        """Wait until the pool of warm interpreters is full, for at most ten seconds."""
        with contextlib.closing(HttpClient(self.url)) as http:
            wanted = http.request("GET", "/config")["pool_size"]
            end = time.monotonic() + 10
            while time.monotonic() < end:
                ready = http.request("GET", "/info")["warm_interpreters"].values()
                if min(ready, default=0) >= wanted:
                    return
                time.sleep(0.01)

    def measure_all_memory(self) -> tuple[float, float]:
        """Return the MB of the server with its helpers, and of its warm interpreters."""
        server = psutil.Process(self._process.pid)
        warm = [child for child in server.children() if "boot.py" in " ".join(child.cmdline())]
        helpers = [child for child in server.children() if child not in warm]
        return measure_memory([server, *helpers]), measure_memory(warm)

    def measure_own_memory(self) -> float:
        return measure_memory([psutil.Process(self._process.pid)])

    def measure_processor(self) -> float:
        """Return the seconds of processor time that the server has taken."""
        times = psutil.Process(self._process.pid).cpu_times()
        return float(times.user + times.system)

    def count_descriptors(self) -> int:
        return psutil.Process(self._process.pid).num_fds()


class Session:
    """A session on its own connection. The constructor launches the program to its first stop."""

    def __init__(self, server: Server, program: Program, **options: Any) -> None:
        self._http = HttpClient(server.url)
        self._request = self._http.request
        self.id = str(self._request("POST", "/sessions", {})["session_id"])
        self._path = f"/sessions/{self.id}"
        for breakpoint_ in program.breakpoints:
            self.post("breakpoints", {"file": program.path, **breakpoint_.as_json()})
        launch = {"script": program.path, "args": list(program.arguments)}
        self.stop = self.post(
            "launch", {**launch, "python": program.python, "wait": True, **options}
        )

    @property
    def line(self) -> int:
        if self.stop["status"] != "paused" or "locals" not in self.stop:
            raise AssertionError(self.stop)
        line: int = self.stop["location"]["line"]
        return line

    def step(self) -> None:
        self.stop = self.post("step-over")

    def resume(self) -> None:
        self.stop = self.post("continue", {"wait": True})

    def evaluate(self, expression: str) -> str:
        return str(self.post("evaluate", {"expression": expression})["result"])

    def status(self) -> None:
        self._request("GET", f"{self._path}/status")

    def end(self) -> None:
        """Let the program run to its end."""
        self.resume()
        if self.stop["status"] != "terminated":
            raise AssertionError(self.stop)

    def processes(self) -> list[psutil.Process]:
        target = psutil.Process(self._request("GET", self._path)["pid"])
        return [target, *target.children(recursive=True)]

    def post(self, route: str, body: Any = None) -> Any:
        return self._request("POST", f"{self._path}/{route}", body)

    def close(self) -> None:
        self._request("DELETE", self._path)
        self._http.close()
