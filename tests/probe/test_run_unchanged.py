"""The standard library's own tests have the same outcomes under the run recorder as without."""

from __future__ import annotations

import functools
import itertools
import json
import os
from pathlib import Path
from typing import Any

import pytest

from interpreters import Interpreter, choose_traced_interpreters
from run_recordings import PROBE, PROGRAMS, run_python

_RUNNER = PROGRAMS / "unittest_outcomes.py"
_MODULES = """
asyncgen copy coroutines csv dataclasses defaultdict property raise scope shlex string textwrap
types with
"""
_SAMPLE = ("coroutines", "property", "with")
# Code that is followed: the tests themselves, and packages that they are about.
_FOLLOWED = ("test", "json", "html", "collections", "email")


@functools.cache
def _find_library(python: str) -> Path | None:
    """The directory of the standard library, if its tests are there."""
    done = run_python(
        python, "-c", "import os, test.test_copy; print(os.path.dirname(os.__file__))"
    )
    return Path(done.stdout.strip()) if done.returncode == 0 else None


def _list_cases() -> list[tuple[Interpreter, str]]:
    """A few modules, each on another Python; with HOLDFAST_EVERY_MODULE all on every one of them.

    Those are the oldest and the newest, and the newest before `sys.monitoring`.
    """
    pythons = choose_traced_interpreters()
    if os.environ.get("HOLDFAST_EVERY_MODULE"):
        return [(python, module) for python in pythons for module in _MODULES.split()]
    return list(zip(itertools.cycle(pythons), _SAMPLE, strict=False))


def _run(python: str, report: Path, module: str, *command: str) -> dict[str, Any]:
    done = run_python(python, *command, str(_RUNNER), str(report), f"test.test_{module}")
    assert done.returncode == 0, done.stderr[-2000:]
    outcomes: dict[str, Any] = json.loads(report.read_bytes())
    return {test: outcome[0] for test, outcome in outcomes.items()}


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize(("interpreter", "module"), _list_cases(), ids=str)
def test_a_module_of_the_standard_library_behaves_as_without_the_recorder(
    interpreter: Interpreter, module: str, tmp_path: Path
) -> None:
    library = _find_library(interpreter.path)
    if library is None:
        pytest.skip(f"{interpreter} has no tests of its standard library")
    path = tmp_path / "run.jsonl"
    roots = [str(library / name) for name in _FOLLOWED]
    order = json.dumps({"path": str(path), "roots": roots, "max_events": 20_000})
    plain = _run(interpreter.path, tmp_path / "plain.json", module)
    recorder = [str(PROGRAMS / "record_run.py"), str(PROBE), order]
    recorded = _run(interpreter.path, tmp_path / "recorded.json", module, *recorder)
    assert recorded == plain
    notes = [line for line in path.read_bytes().splitlines() if line.startswith(b'{"note"')]
    assert not [note for note in notes if b"error of the recorder" in note]
