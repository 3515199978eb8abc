"""A small program, run with debugging on in a directory of its own, and what its calls become."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

from fork_server import run_holdfast
from harness import Server

_FINDING = ("HOLDFAST_SERVER_URL", "CIDELDILL_SERVER_URL", "HOLDFAST_HOME", "HOLDFAST_CALLS")


class RecordedProgram:
    """`write` files, `run` one of them; the calls are then those of its session."""

    def __init__(self, server: Server, folder: Path) -> None:
        self.server = server
        self.folder = folder
        self.session_id = ""

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
        return path

    def change(self, name: str, before: str, after: str) -> None:
        path = self.folder / name
        text = path.read_text()
        assert before in text
        path.write_text(text.replace(before, after))

    def run(self, *argv: str) -> None:
        """The program; it says which session it is."""
        ran = self._run([sys.executable, *argv], HOLDFAST_SERVER_URL=self.server.url)
        assert ran.returncode == 0, ran.stderr
        self.session_id = ran.stdout.split()[-1]

    def record(self, text: str, *, name: str = "app.py") -> None:
        """A program that consists of `text`, in which `info` is what ON returned."""
        self.write(name, text)
        self.run(name)

    def list_ids(self, function: str | None = None) -> list[str]:
        """Of its calls, the first one first."""
        named = f"&function={function}" if function else ""
        path = f"/api/calls?session={self.session_id}&limit=1000{named}"
        return [call["call_id"] for call in reversed(self.server.get(path)["calls"])]

    def last_id(self, function: str) -> str:
        return self.list_ids(function)[-1]

    # -- what is made of them ---------------------------------------------------------------

    def holdfast(self, *words: str) -> subprocess.CompletedProcess[str]:
        return run_holdfast(
            *words, "--url", self.server.url, env=self._environment(), cwd=self.folder, timeout=100
        )

    def replay(self, call_id: str, *words: str) -> tuple[int, Any]:
        """The exit code, and what `--json` says."""
        ran = self.holdfast("calls", "replay", call_id, "--json", *words)
        assert ran.stdout, ran.stderr
        return ran.returncode, json.loads(ran.stdout)

    def write_test(self, *call_ids: str, name: str = "test_it.py") -> str:
        ran = self.holdfast("calls", "test", *call_ids)
        assert ran.returncode == 0, ran.stderr
        (self.folder / name).write_text(ran.stdout)
        return ran.stdout

    def pytest(self, name: str = "test_it.py") -> tuple[int, str]:
        """pytest on a generated file, without a server: its exit code, and what it said."""
        options = ["-q", "-rs", "-p", "no:cacheprovider", "-W", "error"]
        ran = self._run([sys.executable, "-m", "pytest", *options, name])
        return ran.returncode, ran.stdout

    def _run(self, command: list[str], **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=self.folder,
            env={**self._environment(), **env},
            capture_output=True,
            text=True,
            timeout=100,
        )

    def _environment(self) -> dict[str, str]:
        plain = {name: value for name, value in os.environ.items() if name not in _FINDING}
        home = {"HOLDFAST_HOME": str(self.folder / "nobody"), "PYTHONDONTWRITEBYTECODE": "1"}
        return {**plain, **home}
