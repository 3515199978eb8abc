"""Recorded frames against an independent `sys.settrace` run, on every Python there is."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

import pytest

from interpreters import Interpreter, find_interpreters
from traced_programs import (
    TRACES,
    Lifetime,
    TracedRun,
    read_ground_truth,
    read_lifetimes,
    run_plain,
    run_traced,
)

PYTHONS = find_interpreters()
NEEDS = {"matching.py": (3, 10), "exception_groups.py": (3, 11)}
"""Programs with syntax that older Pythons do not have."""
NO_YARDSTICK = {"own_tracing.py"}
"""Programs that set a trace function of their own, in place of the yardstick's."""
CRASHES = {("shadowed", (3, 13))}
"""Functions whose variables no trace function can read: the interpreter would crash (3.13.0)."""
each_python = pytest.mark.parametrize("interpreter", PYTHONS, ids=str)


def list_functions(program: str) -> list[str]:
    tree = ast.parse((TRACES / program).read_text("utf-8"))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return [node.name for node in tree.body if isinstance(node, kinds) and node.name != "main"]


@functools.cache
def run_without_recorder(python: str, program: str) -> TracedRun:
    return run_plain(python, TRACES / program)


def find_difference(got: Lifetime, truth: Lifetime) -> str | None:
    """The first place where a recorded invocation differs from the yardstick."""
    if got.lines != truth.lines:
        return f"lines {got.lines[:60]} instead of {truth.lines[:60]}"
    for line, state, wanted in zip(got.lines, got.states, truth.states, strict=True):
        for name in {**state, **wanted}:
            if state.get(name) != wanted.get(name):
                return f"line {line}: {name} is {state.get(name)}, not {wanted.get(name)}"
    return None


def check(interpreter: Interpreter, program: str, function: str, folder: Path) -> list[str]:
    """What is wrong with the recording of a function's third call and of those around it."""
    python, script = interpreter.path, TRACES / program
    run = run_traced(python, script, function, folder, full=True, call=3)
    plain = run_without_recorder(python, program)
    problems = [remark for remark in run.remarks if "error" in remark]
    if (run.output, run.errors, run.code) != (plain.output, plain.errors, plain.code):
        problems.append(f"it behaves differently: {run.errors[-300:]}{run.output[:300]}")
    truths = read_ground_truth(python, script, function, folder)[:5]
    lifetimes = read_lifetimes(run, [truth.args for truth in truths])
    if len(lifetimes) != len(truths):
        problems.append(f"{len(lifetimes)} calls instead of {len(truths)}")
    for got, truth in zip(lifetimes, truths, strict=False):
        difference = find_difference(got, truth)
        if difference is not None:
            problems.append(difference)
    return problems


@pytest.mark.slow
@each_python
@pytest.mark.parametrize(
    "program", sorted({path.name for path in TRACES.glob("*.py")} - NO_YARDSTICK)
)
def test_recorded_lines_and_values_are_those_of_a_trace_function(
    interpreter: Interpreter, program: str, tmp_path: Path
) -> None:
    if interpreter.version < NEEDS.get(program, (3, 9)):
        pytest.skip("this Python does not have the syntax")
    problems = {
        function: found
        for function in list_functions(program)
        if (function, interpreter.version) not in CRASHES
        and (found := check(interpreter, program, function, tmp_path))
    }
    assert problems == {}


@each_python
def test_a_program_that_traces_itself_is_recorded_and_not_disturbed(
    interpreter: Interpreter, tmp_path: Path
) -> None:
    program = "own_tracing.py"
    run = run_traced(interpreter.path, TRACES / program, "work", tmp_path, full=True, call=2)
    plain = run_without_recorder(interpreter.path, program)
    assert (run.output, run.errors, run.code) == (plain.output, plain.errors, plain.code)
    assert run.picked.items
