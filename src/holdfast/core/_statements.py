"""Walks the statements of a syntax tree, without their expressions."""

from __future__ import annotations

import ast
from collections.abc import Iterator

Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def statements(body: list[ast.stmt], *, enter_scopes: bool = True) -> Iterator[ast.stmt]:
    """Every statement of a body and of the bodies inside it, in source order.

    It does not recurse, because a long chain of `elif` is as deep as it is long.
    """
    ahead = body[::-1]
    while ahead:
        statement = ahead.pop()
        yield statement
        if enter_scopes or not isinstance(statement, Scope):
            ahead += [inner for block in _blocks(statement) for inner in block][::-1]


def _blocks(statement: ast.stmt | ast.excepthandler | ast.match_case) -> Iterator[list[ast.stmt]]:
    """The bodies of a compound statement, in source order."""
    if body := getattr(statement, "body", None):
        yield body
    for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield from _blocks(part)
    for name in ("orelse", "finalbody"):
        if block := getattr(statement, name, None):
            yield block


def is_string(statement: ast.stmt) -> bool:
    """Whether a statement is just a string: a docstring, or one used as a comment."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )
