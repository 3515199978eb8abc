"""Finds the lines of a source at which an expression can be evaluated, by the names in it."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from holdfast.core._statements import statements
from holdfast.core.source_text import decode, parse_quietly

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_MAX_LINES = 2000


def find_lines(source: str | bytes, expression: str) -> list[int]:
    """The lines of the functions that have one of the names as a variable of their own.

    None of them: then the names are global, or no function of this source has them."""
    names = _list_names(expression)
    try:
        body = parse_quietly(decode(source, "<source>"), "<source>").body
    except SyntaxError:
        return []
    lines: set[int] = set()
    for function in statements(body):
        if isinstance(function, _Function) and names & set(_list_bound(function)):
            lines.update(_list_lines(function))
    return sorted(lines)[:_MAX_LINES]


def _list_names(expression: str) -> set[str]:
    nodes = ast.walk(ast.parse(expression.strip(), mode="eval"))
    names = [node for node in nodes if isinstance(node, ast.Name)]
    own = {name.id for name in names if isinstance(name.ctx, ast.Store)}
    return {name.id for name in names} - own - set(dir(builtins))


def _list_bound(function: _Function) -> Iterator[str]:
    """The parameters of a function, and what it assigns."""
    arguments = function.args
    given = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    yield from (each.arg for each in (*given, arguments.vararg, arguments.kwarg) if each)
    names: list[str] = []
    outer: set[str] = set()
    for statement in statements(function.body, enter_scopes=False):
        if isinstance(statement, ast.Global | ast.Nonlocal):
            outer.update(statement.names)
    for statement in statements(function.body, enter_scopes=False):
        for node in _walk_statement(statement):
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                names.append(node.id)
    yield from (name for name in names if name not in outer)


def _walk_statement(statement: ast.stmt) -> Iterator[ast.AST]:
    """The expressions of a statement; the statements inside it come by themselves."""
    if isinstance(statement, _Function | ast.ClassDef):
        return
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        yield node
        inner = ast.iter_child_nodes(node)
        waiting += [child for child in inner if not isinstance(child, ast.stmt)]


def _list_lines(function: _Function) -> Iterator[int]:
    for statement in statements(function.body, enter_scopes=False):
        yield statement.lineno
