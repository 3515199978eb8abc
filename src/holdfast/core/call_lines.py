"""Whether a line calls anything: asked of the source, not of the program."""

from __future__ import annotations

import ast
from functools import lru_cache

from holdfast.core.source_text import parse_quietly


def on_line(source: str, line: int) -> bool:
    """Does a call expression begin or end on this line?"""
    return line in _lines_with_calls(source)


@lru_cache(maxsize=32)
def _lines_with_calls(source: str) -> frozenset[int]:
    try:
        tree = parse_quietly(source, "<source>")
    except SyntaxError:
        return frozenset()
    found: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            found.update((node.lineno, node.end_lineno or node.lineno))
    return frozenset(found)
