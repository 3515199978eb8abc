"""A Holdfast server of the benchmark's own, and what it holds."""

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
from bench.measuring import Program, megabytes


class Server:
    def __init__(self, *options: str) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="holdfast-bench-")
        folder = Path(self._folder.name)
        self.data_dir = folder / "data"
        ready = folder / "ready.json"
        argv = [sys.executable, "-m", "holdfast", "serve", "--port", "0", *options]
        argv += ["--data-dir", str(self.data_dir), "--ready-file", str(ready)]
        self._process = subprocess.Popen(argv, stderr=subprocess.PIPE)
        try:
            assert self._process.stderr is not None
            for line in self._process.stderr:  # the server says where it is once it answers
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

    def refilled(self) -> None:
        """Wait until as many interpreters stand ready as the server wants to have."""
        with contextlib.closing(Http(self.url)) as http:
            wanted = http.ask("GET", "/config")["pool_size"]
            end = time.monotonic() + 10
            while time.monotonic() < end:
                ready = http.ask("GET", "/info")["warm_interpreters"].values()
                if min(ready, default=0) >= wanted:
                    return
                time.sleep(0.01)

    # -- what it holds ------------------------------------------------------------------------

    def footprint(self) -> tuple[float, float]:
        """MB of the server with its helpers, and of the interpreters that stand ready."""
        server = psutil.Process(self._process.pid)
        spare = [each for each in server.children() if "boot.py" in " ".join(each.cmdline())]
        helpers = [each for each in server.children() if each not in spare]
        return megabytes([server, *helpers]), megabytes(spare)

    def own_memory(self) -> float:
        return megabytes([psutil.Process(self._process.pid)])

    def descriptors(self) -> int:
        return psutil.Process(self._process.pid).num_fds()


class Session:
    """One session over one connection of its own, from nothing to its first stop, and on."""

    def __init__(self, server: Server, program: Program, **options: Any) -> None:
        self._http = Http(server.url)
        self._ask = self._http.ask
        self._path = "/sessions/" + self._ask("POST", "/sessions", {})["session_id"]
        for point in program.points:
            self.post("breakpoints", {"file": program.path, **point.as_json()})
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
        self._ask("GET", f"{self._path}/status")

    def end(self) -> None:
        """Let the program run to its end."""
        self.resume()
        if self.stop["status"] != "terminated":
            raise AssertionError(self.stop)

    def processes(self) -> list[psutil.Process]:
        target = psutil.Process(self._ask("GET", self._path)["pid"])
        return [target, *target.children(recursive=True)]

    def post(self, what: str, body: Any = None) -> Any:
        return self._ask("POST", f"{self._path}/{what}", body)

    def close(self) -> None:
        self._ask("DELETE", self._path)
        self._http.close()
