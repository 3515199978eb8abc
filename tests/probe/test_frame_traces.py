"""Recorded frames equal what an independent `sys.settrace` run tells."""

from __future__ import annotations

import ast
import os
from pathlib import Path

import pytest

from interpreters import Interpreter, choose_traced_interpreters
from traced_programs import (
    TRACES,
    find_differences,
    read_ground_truth,
    read_lifetimes,
    run_plain,
    run_traced,
)

PYTHONS = pytest.mark.parametrize("interpreter", choose_traced_interpreters(), ids=str)
NEEDED = {"matching.py": (3, 10), "exception_groups.py": (3, 11)}
PROGRAMS = [
    "control_flow.py",
    "mutations.py",
    "generators.py",
    "matching.py",
    "exception_groups.py",
    "awkward_values.py",
]
# `sys.settrace` itself crashes there: cpython #128396.
CRASHES = {(3, 13): {"shadowed"}}
LIBRARY = [
    "textwrap.TextWrapper._wrap_chunks",
    "textwrap.TextWrapper._split",
    "textwrap.dedent",
    "json.decoder.py_scanstring",
    "json.decoder.JSONObject",
    "json.decoder.JSONArray",
    "csv.Sniffer._guess_delimiter",
    "csv.Sniffer._guess_quote_and_delimiter",
    "csv.Sniffer.sniff",
    "difflib.SequenceMatcher.find_longest_match",
    "difflib.SequenceMatcher.get_matching_blocks",
    "difflib.SequenceMatcher.get_opcodes",
    "heapq.merge",
    "configparser.RawConfigParser._read",
    "configparser.BasicInterpolation._interpolate_some",
    "fractions.Fraction.__new__",
    "statistics.median",
    "argparse.ArgumentParser._match_arguments_partial",
]
SAMPLE = LIBRARY[::5]
NEIGHBOURS = 2


def list_functions(program: Path) -> list[str]:
    tree = ast.parse(program.read_text("utf-8"))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return [node.name for node in tree.body if isinstance(node, kinds) and node.name != "main"]


def compare(interpreter: Interpreter, program: Path, functions: list[str], folder: Path) -> None:
    """The third call of each function, and those around it, are recorded as they are."""
    crashes = CRASHES.get(interpreter.version, set())
    functions = [function for function in functions if function not in crashes]
    plain = run_plain(interpreter.path, program)
    problems = []
    for function in functions:
        is_own = "." not in function
        run = run_traced(
            interpreter.path, program, function, folder, full=True, call=3, is_own=is_own
        )
        truth = read_ground_truth(interpreter.path, program, function, folder)
        expected = truth[: 3 + NEIGHBOURS]
        recorded = read_lifetimes(run, [lifetime.args for lifetime in expected])
        problems += [f"{function}: {one}" for one in find_differences(recorded, expected)]
        problems += [f"{function}: {one}" for one in run.remarks]
        if (run.output, run.errors, run.code) != (plain.output, plain.errors, plain.code):
            problems.append(f"{function}: the output is another: {run.output} {run.errors}")
    assert problems == []


@PYTHONS
@pytest.mark.parametrize("program", PROGRAMS)
def test_lines_and_values_are_those_of_settrace(
    interpreter: Interpreter, program: str, tmp_path: Path
) -> None:
    if interpreter.version < NEEDED.get(program, (3, 9)):
        pytest.skip(f"{interpreter} does not know this syntax")
    compare(interpreter, TRACES / program, list_functions(TRACES / program), tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(300)
@PYTHONS
def test_functions_of_the_standard_library_are_recorded_as_they_are(
    interpreter: Interpreter, tmp_path: Path
) -> None:
    functions = LIBRARY if os.environ.get("HOLDFAST_EVERY_MODULE") else SAMPLE
    compare(interpreter, TRACES / "standard_library.py", functions, tmp_path)


@PYTHONS
def test_a_function_made_by_exec_is_recorded_as_it_is(
    interpreter: Interpreter, tmp_path: Path
) -> None:
    program = TRACES / "made_code.py"
    truth = read_ground_truth(interpreter.path, program, "made", tmp_path)
    run = run_traced(interpreter.path, program, "made", tmp_path, full=True, is_static=False)
    recorded = read_lifetimes(run, [lifetime.args for lifetime in truth])
    assert find_differences(recorded, truth) == []
    assert run.output == run_plain(interpreter.path, program).output
    is_slow = any("all ran slower" in remark for remark in run.remarks)
    assert is_slow == (interpreter.version < (3, 12))


@PYTHONS
@pytest.mark.parametrize("function", ["work", "helper", "snapshot", "main"])
def test_a_program_that_traces_itself_sees_nothing_of_the_recorder(
    interpreter: Interpreter, function: str, tmp_path: Path
) -> None:
    program = TRACES / "own_tracing.py"
    run = run_traced(interpreter.path, program, function, tmp_path, full=True)
    assert run.output == run_plain(interpreter.path, program).output
    assert run.frames
    assert all(frame.outcome == "returned" for frame in run.frames)


@PYTHONS
def test_a_frame_is_recorded_where_the_program_traces_it_too(
    interpreter: Interpreter, tmp_path: Path
) -> None:
    run = run_traced(interpreter.path, TRACES / "own_tracing.py", "work", tmp_path, full=True)
    traced, profiled, in_thread = read_lifetimes(run)
    assert [line - traced.lines[0] for line in traced.lines] == [0, 1, 2, 1, 2, 1, 3]
    assert [line - traced.lines[0] for line in profiled.lines] == [0, 1, 2, 1, 3]
    assert profiled.lines == in_thread.lines


@PYTHONS
def test_a_variable_that_a_comprehension_shadows_is_read_safely(
    interpreter: Interpreter, tmp_path: Path
) -> None:
    run = run_traced(interpreter.path, TRACES / "mutations.py", "shadowed", tmp_path, full=True)
    assert run.code == 0
    (lifetime,) = read_lifetimes(run)
    assert lifetime.states[-1]["i"] == "7"
