"""Later rounds of hot loops, by their values: equal to those of a `sys.settrace` run."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from holdfast.core import loop_rounds
from holdfast.model.trace import LoopRun
from interpreters import Interpreter, choose_interpreters
from traced_programs import (
    TRACES,
    Lifetime,
    TracedRun,
    find_statements,
    read_ground_truth,
    run_plain,
    run_traced,
)

PYTHONS = pytest.mark.parametrize("interpreter", choose_interpreters(), ids=str)
PROGRAM = TRACES / "hot_loops.py"
TREE = ast.parse(PROGRAM.read_text("utf-8"))
FUNCTIONS = {
    node.name: node
    for node in TREE.body
    if isinstance(node, ast.FunctionDef) and node.name not in ("main", "one_line")
}


def find_rounds(function: ast.FunctionDef, lifetime: Lifetime) -> list[dict[str, str]]:
    """The variables at the end of each round of the function's loop."""
    loop = next(node for node in function.body if isinstance(node, (ast.For, ast.While)))
    firsts, _rounds = find_statements(PROGRAM.read_text("utf-8"))
    body = range(firsts[loop.body[0].lineno], (loop.end_lineno or 0) + 1)
    is_endless = isinstance(loop.test, ast.Constant) if isinstance(loop, ast.While) else False
    boundary = body.start if is_endless else loop.lineno
    rounds: list[dict[str, str]] = []
    is_open = False
    before: dict[str, str] = lifetime.args
    for line, state in zip(lifetime.lines, lifetime.states, strict=True):
        is_inside = line in body
        if is_open and (line == boundary or not is_inside):
            rounds.append(before)
            is_open = False
        is_open = is_open or is_inside
        before = state
    return [*rounds, before] if is_open else rounds


def get_loop(run: TracedRun) -> LoopRun:
    return next(item for item in run.picked.items if isinstance(item, LoopRun))


@PYTHONS
def test_rows_are_the_values_at_the_end_of_each_round(
    interpreter: Interpreter, tmp_path: Path
) -> None:
    plain = run_plain(interpreter.path, PROGRAM)
    problems = []
    for name, node in FUNCTIONS.items():
        run = run_traced(interpreter.path, PROGRAM, name, tmp_path)
        assert (run.output, run.errors, run.remarks) == (plain.output, plain.errors, [])
        (lifetime,) = read_ground_truth(interpreter.path, PROGRAM, name, tmp_path)
        rounds = find_rounds(node, lifetime)
        loop = get_loop(run)
        if loop.iterations != len(rounds):
            problems.append(f"{name}: {loop.iterations} rounds in place of {len(rounds)}")
            continue
        assert loop.rows is not None
        for index in range(len(loop.rows.paths)):
            truth = rounds[loop.rows.first - 1 + index]
            for variable, column in loop.rows.columns.items():
                text, wanted = column[index], truth.get(variable, "")
                if text != wanted and not text.startswith("<"):
                    problems.append(f"{name}: {variable} is {text}, not {wanted}, in {index}")
    assert problems == []


@PYTHONS
def test_a_loop_in_one_line_is_counted(interpreter: Interpreter, tmp_path: Path) -> None:
    loop = get_loop(run_traced(interpreter.path, PROGRAM, "one_line", tmp_path))
    assert loop.iterations == 300
    assert loop.after["total"] == str(sum(range(300)))


@PYTHONS
def test_the_ways_through_a_loop_are_counted(interpreter: Interpreter, tmp_path: Path) -> None:
    loop = get_loop(run_traced(interpreter.path, PROGRAM, "branches", tmp_path))
    assert sum(times for _path, times, _first in loop.paths) == 300
    by_length = sorted((len(path), times) for path, times, _first in loop.paths)
    threes = sum(i * 7 % 11 == 3 for i in range(300))
    large = sum(i * 7 % 11 > 8 for i in range(300))
    assert by_length == [(1, threes), (2, large), (2, 300 - threes - large)] or by_length == [
        (1, threes),
        (2, 300 - threes - large),
        (2, large),
    ]


@PYTHONS
def test_a_loop_of_ten_thousand_rounds_folds_into_a_few_lines(
    interpreter: Interpreter, tmp_path: Path
) -> None:
    script = tmp_path / "long.py"
    script.write_text(
        "def work(n):\n"
        "    total = 0\n"
        "    for i in range(n):\n"
        "        x = i % 7\n"
        "        if i == 6543:\n"
        "            x = None\n"
        "        total += 1\n"
        "    return total\n"
        "print(work(10_000))\n"
    )
    run = run_traced(interpreter.path, script, "work", tmp_path)
    loop = get_loop(run)
    folded = loop_rounds.fold(loop)
    assert [one.number for one in folded] == [1, 6544, 10_000]
    assert folded[1].remark == "only time on this path"
    assert folded[1].values == {"i": "6543", "x": "None", "total": "6544"}
    sizes = [len(json.loads(line)[6]) for line in run.lines if line.startswith(b'["r"')]
    assert len(sizes) >= 10_000 // 256
