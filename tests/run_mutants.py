"""Versions of a module that differ in one statement, and what recordings of them tell."""

from __future__ import annotations

import ast
import copy
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from holdfast.core.run_reader import read_run
from holdfast.model.run_recording import RunRecording
from run_recordings import PROBE, PROGRAMS, run_python

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_OPERATIONS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
}


@dataclass(frozen=True)
class Mutant:
    """A module with one change, and the line of the statement that has it."""

    source: str
    line: int


def normalize(source: str) -> str:
    """The same program without comments: a change of one statement changes its line only."""
    return ast.unparse(ast.parse(source)) + "\n"


def make_mutants(source: str, most: int, seed: int = 1) -> list[Mutant]:
    """Changes of single statements in functions, chosen by chance but always the same."""
    tree = ast.parse(normalize(source))
    sites = list(_find_sites(tree))
    random.Random(seed).shuffle(sites)
    mutants: list[Mutant] = []
    for number in sites:
        changed = copy.deepcopy(tree)
        node = list(ast.walk(changed))[number]
        _change(node)
        text = ast.unparse(changed) + "\n"
        lines = [
            n
            for n, (a, b) in enumerate(
                zip(normalize(source).splitlines(), text.splitlines(), strict=False), 1
            )
            if a != b
        ]
        if lines and len(text.splitlines()) == len(normalize(source).splitlines()):
            mutants.append(Mutant(text, lines[0]))
        if len(mutants) >= most:
            break
    return mutants


def _find_sites(tree: ast.Module) -> Iterator[int]:
    """Numbers of nodes, as `ast.walk` counts them, that can be changed and are in a function."""
    inside = {
        id(node)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        for statement in function.body
        for node in ast.walk(statement)
    }
    for number, node in enumerate(ast.walk(tree)):
        if id(node) in inside and _can_change(node):
            yield number


def _can_change(node: ast.AST) -> bool:
    if isinstance(node, ast.Compare):
        return type(node.ops[0]) in _COMPARISONS
    if isinstance(node, ast.BinOp | ast.AugAssign):
        return type(node.op) in _OPERATIONS
    if isinstance(node, ast.BoolOp):
        return True
    return isinstance(node, ast.Constant) and type(node.value) is int


def _change(node: ast.AST) -> None:
    if isinstance(node, ast.Compare):
        node.ops[0] = _COMPARISONS[type(node.ops[0])]()
    elif isinstance(node, ast.BinOp | ast.AugAssign):
        node.op = _OPERATIONS[type(node.op)]()
    elif isinstance(node, ast.BoolOp):
        node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        node.value += 1


@dataclass(frozen=True)
class MutantRun:
    """The recording of a version of a module."""

    run: RunRecording
    output: str
    line: int


def record_versions(
    folder: Path, python: str, module: str, source: str, driver: str, mutants: list[Mutant]
) -> tuple[MutantRun, list[MutantRun]]:
    """The recordings of a module as it is, and of its mutants."""
    versions = [Mutant(normalize(source), 0), *mutants]
    names = [f"{module}{number}" for number in range(len(versions))]
    plan = [[name, module, each.source, driver] for name, each in zip(names, versions, strict=True)]
    order = folder / f"{module}.json"
    order.write_text(json.dumps(plan), encoding="utf-8")
    done = run_python(python, str(PROGRAMS / "mutant_runs.py"), str(PROBE), str(folder), str(order))
    assert done.returncode == 0, done.stderr
    runs = [
        MutantRun(
            read_run((folder / name / "run.jsonl").read_bytes().splitlines()),
            (folder / name / "output.txt").read_text(encoding="utf-8"),
            each.line,
        )
        for name, each in zip(names, versions, strict=True)
    ]
    return runs[0], runs[1:]
