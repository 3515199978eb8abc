"""Finds a function in source text by its name.

debugpy knows functions by their bare name only: a breakpoint on `Class.method` is reported as
verified and never stops. So a name is resolved here to the line of its `def`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from holdfast.core._statements import Scope, statements
from holdfast.core.source_text import compile_quietly, decode, parse_quietly

_LOCALS = "<locals>"

_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class FunctionPlace:
    name: str
    """The bare name, as in `co_name`."""
    qualname: str
    """As in `__qualname__`, `<locals>` included."""
    def_line: int
    first_line: int
    """As in `co_firstlineno`: the first decorator, else the `def`."""


def find(source: str | bytes, qualname: str) -> FunctionPlace | None:
    """The last definition of `qualname`, or None. A source that does not compile has none."""
    path = _parts(qualname)
    if not path:
        return None
    try:
        text = decode(source, "<source>")
        body = parse_quietly(text, "<source>").body
        compile_quietly(text, "<source>", "exec")  # finds errors that the parser does not
    except SyntaxError:
        return None
    matches = list(_matches(body, path, ""))
    return _place(*matches[-1]) if matches else None


def candidates(dotted: str) -> list[tuple[str, str]]:
    """Every way to read a dotted name as (module, qualname), the longest module first.

    The last way is always no module: a function of the program's own script.
    """
    parts = _parts(dotted.strip())
    if not all(part.isidentifier() for part in parts):
        return []
    splits = range(len(parts) - 1, -1, -1)
    return [(".".join(parts[:at]), ".".join(parts[at:])) for at in splits]


def _parts(dotted: str) -> list[str]:
    return [part for part in dotted.split(".") if part != _LOCALS]


def _matches(body: list[ast.stmt], path: list[str], prefix: str) -> Iterator[tuple[_Function, str]]:
    """The definitions at `path`, each with its qualified name."""
    name, rest = path[0], path[1:]
    for node in _definitions(body):
        if node.name != name:
            continue
        if rest:
            locals_ = "" if isinstance(node, ast.ClassDef) else f"{_LOCALS}."
            yield from _matches(node.body, rest, f"{prefix}{name}.{locals_}")
        elif not isinstance(node, ast.ClassDef):
            yield node, prefix + name


def _definitions(body: list[ast.stmt]) -> Iterator[Scope]:
    """The functions and classes of one scope, those under `if`, `try`, `with` and loops too."""
    for statement in statements(body, enter_scopes=False):
        if isinstance(statement, Scope):
            yield statement


def _place(node: _Function, qualname: str) -> FunctionPlace:
    return FunctionPlace(
        name=node.name, qualname=qualname, def_line=node.lineno, first_line=_first_line(node)
    )


def _first_line(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])
