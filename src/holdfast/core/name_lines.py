"""Finds where a source has the names of an expression, so that it can be evaluated there."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from holdfast.core._statements import Scope, statements
from holdfast.core.source_text import decode, parse_quietly

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_MAX_LINES = 2000


def find_lines(source: str | bytes, expression: str) -> list[int]:
    """The lines of the functions that have one of the names as a variable of their own.

    None of them: then the names are global, or no function of this source has them."""
    names = list_names(expression)
    lines: set[int] = set()
    for function in statements(_parse(source)):
        if isinstance(function, _Function) and names & set(_list_variables(function)):
            lines.update(_list_lines(function))
    return sorted(lines)[:_MAX_LINES]


def has_globals(source: str | bytes, expression: str) -> bool:
    """Whether a source has every name of an expression as a global variable of its own."""
    body = _parse(source)
    known = {*_list_bound(body), *_list_declared(body, ast.Global)}
    names = list_names(expression)
    return bool(names) and names <= known


def _parse(source: str | bytes) -> list[ast.stmt]:
    try:
        return parse_quietly(decode(source, "<source>"), "<source>").body
    except SyntaxError:
        return []


def list_names(expression: str) -> set[str]:
    """The names that an expression needs; neither built-in ones, nor those that it binds."""
    nodes = ast.walk(ast.parse(expression.strip(), mode="eval"))
    names = [node for node in nodes if isinstance(node, ast.Name)]
    own = {name.id for name in names if isinstance(name.ctx, ast.Store)}
    return {name.id for name in names} - own - set(dir(builtins))


def _list_variables(function: _Function) -> Iterator[str]:
    """The parameters of a function, and what it binds."""
    arguments = function.args
    given = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    yield from (each.arg for each in (*given, arguments.vararg, arguments.kwarg) if each)
    outer = {
        *_list_declared(function.body, ast.Global, enter_scopes=False),
        *_list_declared(function.body, ast.Nonlocal, enter_scopes=False),
    }
    yield from (name for name in _list_bound(function.body) if name not in outer)


def _list_declared(
    body: list[ast.stmt], kind: type[ast.Global | ast.Nonlocal], *, enter_scopes: bool = True
) -> Iterator[str]:
    for statement in statements(body, enter_scopes=enter_scopes):
        if isinstance(statement, kind):
            yield from statement.names


def _list_bound(body: list[ast.stmt]) -> Iterator[str]:
    """What one scope assigns, deletes, defines, imports or catches."""
    for statement in statements(body, enter_scopes=False):
        if isinstance(statement, Scope):
            yield statement.name
            continue
        for node in _walk_statement(statement):
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                yield node.id
            elif isinstance(node, ast.alias):
                yield node.asname or node.name.partition(".")[0]
            elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
                yield node.name


def _walk_statement(statement: ast.stmt) -> Iterator[ast.AST]:
    """The expressions of a statement; the statements inside it come by themselves."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        yield node
        inner = ast.iter_child_nodes(node)
        waiting += [child for child in inner if not isinstance(child, ast.stmt)]


def _list_lines(function: _Function) -> Iterator[int]:
    for statement in statements(function.body, enter_scopes=False):
        yield statement.lineno
