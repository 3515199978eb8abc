"""Which names a function assigns: one that has no value yet will get one there."""

from __future__ import annotations

import ast
from functools import lru_cache

from holdfast.core._statements import Scope
from holdfast.core.source_text import parse_quietly


@lru_cache(maxsize=256)  # asked again after every step
def is_assigned(text: str, line: int, name: str) -> bool:
    """Whether the function around a line, or the module outside of functions, assigns a name."""
    try:
        tree = parse_quietly(text, "<source>")
    except SyntaxError:
        return False
    scope: ast.AST = tree
    for node in ast.walk(tree):
        if isinstance(node, Scope) and node.lineno < line <= (node.end_lineno or node.lineno):
            scope = node  # an inner one comes after those around it
    return any(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
        for node in ast.walk(scope)
    )
