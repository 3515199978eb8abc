"""The standard library's own tests have the same outcomes while every function is recorded.

All functions of a package are recorded at once, the first invocations of each: rewritten with hooks
before Python 3.12, with events of `sys.monitoring` later.
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from harness import PROGRAMS
from holdfast.targets.program.launcher import PROBE
from interpreters import Interpreter, find_interpreters

RUNNER = PROGRAMS / "unittest_outcomes.py"
# The tests, and the modules whose functions are recorded.
PACKAGES = {
    "argparse": ["argparse"],
    "bisect": ["bisect"],
    "collections": ["collections", "_collections_abc"],
    "configparser": ["configparser"],
    "contextlib": ["contextlib"],
    "copy": ["copy", "copyreg"],
    "csv": ["csv"],
    "dataclasses": ["dataclasses"],
    "difflib": ["difflib"],
    "enum": ["enum"],
    "fractions": ["fractions", "numbers"],
    "functools": ["functools"],
    "heapq": ["heapq"],
    "json": ["json"],
    "shlex": ["shlex"],
    "statistics": ["statistics"],
    "string": ["string"],
    "textwrap": ["textwrap"],
    "tokenize": ["tokenize"],
    "weakref": ["weakref"],
}
QUICK = ["bisect", "textwrap", "shlex", "string", "copy"]
"""Those that take a few seconds."""
START = """
import sys
probe, path, modules = sys.argv[1], sys.argv[2], sys.argv[3].split(",")
del sys.argv[:4]
with open(probe + "/package_loader.py", encoding="utf-8") as file:
    exec(compile(file.read(), "package_loader", "exec"), namespace := {"__name__": "loader"})
load = lambda name: namespace["load_module"](probe, "traces." + name)
function_choice, frame_trace = load("function_choice"), load("frame_trace")
from_start, invocations = load("trace_start"), load("invocations")

class EveryFunction(function_choice.FunctionChoice):
    def may_match(self, code):
        return True

    def may_define(self, code):
        return True

    def match(self, code, qualname, names, file):
        module = names.get("__name__")
        if type(module) is not str or module.partition(".")[0] not in modules:
            return None
        # These are called by the recorder itself, or once for each class of a program.
        if not code.co_flags & 1 or "<" in code.co_name:
            return None
        return function_choice.ChosenFunction(code, module + "." + qualname, file)

log = load("trace_log").TraceLog(path, {"format": 1})
recorded = invocations.Invocations({"raised": True}, log)
recorded._pick = lambda index: None
counts = {}

def start_at(plan, frame, index):
    counts[plan] = counts.get(plan, 0) + 1
    return recorded._record(plan, frame, index, False) if counts[plan] <= 60 else None

recorded.start_at = start_at
sources = frame_trace._arm(EveryFunction("every", False, None), recorded, True)
script = sys.argv[0]
import types
main = sys.modules["__main__"] = types.ModuleType("__main__")
main.__file__ = script
main.__name__ = "__main__"
with open(script, encoding="utf-8") as file:
    code = compile(file.read(), script, "exec")
exec(code, main.__dict__)
for source in sources:
    source.disarm()
print("recorded", bool(counts), sorted(recorded.remarks))
"""


def run(command: list[str], report: Path, folder: Path) -> tuple[dict[str, Any], str]:
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=folder, stdin=subprocess.DEVNULL, timeout=500
    )
    assert report.exists(), done.stderr[-2000:]
    outcomes: dict[str, Any] = json.loads(report.read_bytes())
    report.unlink()
    return {test: outcome[0] for test, outcome in outcomes.items()}, done.stdout


def run_both(python: str, package: str, folder: Path) -> dict[str, Any]:
    """The tests whose outcomes differ."""
    report = folder / "report.json"
    arguments = [str(RUNNER), str(report), f"test.test_{package}"]
    plain, _output = run([python, *arguments], report, folder)
    modules = ",".join(PACKAGES[package])
    starter = [python, "-c", START, str(PROBE), str(folder / "log"), modules]
    traced, output = run([*starter, *arguments], report, folder)
    assert "recorded True []" in output
    assert len(plain) > 3
    return {
        test: (plain.get(test), traced.get(test))
        for test in {**plain, **traced}
        if plain.get(test) != traced.get(test)
    }


@functools.cache
def has_tests(python: str) -> bool:
    command = [python, "-c", "import test.test_textwrap"]
    return subprocess.run(command, capture_output=True).returncode == 0


def list_cases() -> list[Any]:
    """A few packages, each on one Python; with HOLDFAST_EVERY_MODULE all on every one."""
    pythons = find_interpreters()
    if os.environ.get("HOLDFAST_EVERY_MODULE"):
        return [(python, package) for python in pythons for package in PACKAGES]
    return [(pythons[n % len(pythons)], package) for n, package in enumerate(QUICK)]


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("interpreter", "package"), list_cases(), ids=str)
def test_a_package_behaves_as_it_does_without_a_recorder(
    interpreter: Interpreter, package: str, tmp_path: Path
) -> None:
    if not has_tests(interpreter.path):
        pytest.skip(f"{interpreter} has no tests of its standard library")
    differences = run_both(interpreter.path, package, tmp_path)
    if differences:  # by chance?
        again = run_both(interpreter.path, package, tmp_path)
        differences = {test: again[test] for test in differences if test in again}
    assert differences == {}
