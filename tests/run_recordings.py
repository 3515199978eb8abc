"""Records runs of small programs, on any Python, for tests of what is told of them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.core.run_reader import read_run
from holdfast.model.run_recording import RunRecording

PROGRAMS = Path(__file__).parent / "programs"
RUNS, BUGS = PROGRAMS / "runs", PROGRAMS / "why"
PROBE = Path(__file__).parents[1] / "src" / "holdfast" / "probe"
_LONG_TIME = 100


@dataclass(frozen=True)
class Recorded:
    """A run that has ended, and its recording."""

    output: str
    errors: str
    status: int
    path: Path

    @property
    def lines(self) -> list[bytes]:
        return self.path.read_bytes().splitlines(keepends=True)

    def read(self) -> RunRecording:
        return read_run(self.lines)


def record(
    script: Path, folder: Path, python: str = sys.executable, *args: str, **options: Any
) -> Recorded:
    """Run a script under the recorder; files beside it are its own code."""
    path = folder / "run.jsonl"
    order = {"kind": "run", "path": str(path), "roots": [str(script.parent)], **options}
    command = [str(PROGRAMS / "record_run.py"), str(PROBE), json.dumps(order), str(script)]
    done = run_python(python, *command, *args)
    return Recorded(done.stdout, done.stderr, done.returncode, path)


def run_python(python: str, *args: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [python, *args]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=_LONG_TIME, env=environment
    )


def record_text(text: str, folder: Path, python: str = sys.executable, **options: Any) -> Recorded:
    """Record a program that is given as its text."""
    script = folder / "program.py"
    script.write_text(text, encoding="utf-8")
    return record(script, folder, python, **options)


def find_line(script: Path, mark: str) -> int:
    """The line that has a remark such as `# @bug`."""
    for number, line in enumerate(script.read_text(encoding="utf-8").splitlines(), 1):
        if re.search(rf"# @{mark}\b", line):
            return number
    raise LookupError(f"{script.name} has no @{mark}")


def find_remark(script: Path, mark: str) -> str:
    """What follows a mark in its line."""
    line = script.read_text(encoding="utf-8").splitlines()[find_line(script, mark) - 1]
    return line.partition(f"# @{mark}")[2].strip()
