"""Finds the lines of a source on which a function is called."""

from __future__ import annotations

import ast
from functools import lru_cache

from holdfast.core.source_text import parse_quietly


def has_call(source: str, line: int) -> bool:
    """Whether a call expression begins or ends on this line."""
    return line in _lines_with_calls(source)


@lru_cache(maxsize=32)
def _lines_with_calls(source: str) -> frozenset[int]:
    try:
        tree = parse_quietly(source, "<source>")
    except SyntaxError:
        return frozenset()
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            lines.update((node.lineno, node.end_lineno or node.lineno))
    return frozenset(lines)
