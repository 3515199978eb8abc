"""Runs pytest as a user does, in a process of its own, on the tests of `programs/failing_tests`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from generous_timings import set_timings
from harness import PROGRAMS

PROJECT = PROGRAMS / "failing_tests"
_SECONDS = 100


class PytestRun:
    """A run that is over."""

    def __init__(self, status: int, text: str, home: Path) -> None:
        self.status = status
        self.text = text
        self.home = home

    @property
    def files(self) -> list[Path]:
        return sorted((self.home / "captures").glob("*"))

    def captures(self) -> dict[str, Any]:
        """Each capture by the name of its test; of a failed teardown, too."""
        read = [json.loads(file.read_text("utf-8")) for file in self.files]
        return {capture["node"].rpartition("::")[2]: capture for capture in read}


def run_pytest(home: Path, *options: str, folder: Path = PROJECT, given: str = "") -> PytestRun:
    process = start_pytest(home, *options, folder=folder)
    text, _ = process.communicate(given, timeout=_SECONDS)
    return PytestRun(process.returncode, text, home)


def start_pytest(home: Path, *options: str, folder: Path = PROJECT) -> subprocess.Popen[str]:
    """What this suite's own run has put into the environment is not passed on."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTEST_", "HOLDFAST_", "COV_"))
    } | set_timings()
    plugins = ["-p", "no:cacheprovider", "-p", "no:langsmith_plugin", "-p", "no:hypothesispytest"]
    return subprocess.Popen(
        [sys.executable, "-m", "pytest", *plugins, *options],
        cwd=folder,
        env={**environment, "HOLDFAST_HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
