"""The probe's modules import one another at the top and in one direction."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import holdfast.probe

FOLDER = Path(holdfast.probe.__file__).parent
MODULES = sorted(path for path in FOLDER.glob("*.py") if path.stem not in ("__init__", "boot"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_no_function_imports_another_module_of_the_probe(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    inside = [node for function in functions for node in ast.walk(function)]
    assert [node.lineno for node in inside if isinstance(node, ast.ImportFrom) and node.level] == []
