"""Runs of a real agent, `tests/programs/shopping_agent.py`, for the tests of the page."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from harness import PROGRAMS, Server


class ShoppingRun:
    """An agent in a process of its own, which the server follows."""

    def __init__(self, server: Server, cwd: Path, hold: str = "") -> None:
        environment = {**os.environ, "HOLDFAST_HOME": str(server.data_dir)}
        environment.pop("HOLDFAST_AGENT_DIR", None)
        self.process = subprocess.Popen(
            [sys.executable, str(PROGRAMS / "shopping_agent.py")],
            env=environment | ({"HOLDFAST_AGENT_HOLD": hold} if hold else {}),
            cwd=cwd,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self.process.stdout is not None
        self.id = self.process.stdout.readline().strip()
        self.address = f"/agents/{self.id}"

    def read_end(self) -> str:
        """What it prints at its end."""
        return self.process.communicate(timeout=60)[0].strip()

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


@contextlib.contextmanager
def shopping(server: Server, cwd: Path, hold: str = "") -> Iterator[ShoppingRun]:
    """A run that the server knows of; it ends with the block."""
    run = ShoppingRun(server, cwd, hold)
    try:
        while server.http.get(f"/sessions/{run.id}").status_code == 404:
            server.get("/api/events?types=session_start&wait=0.05")  # it has not heard of it yet
        yield run
    finally:
        run.close()
