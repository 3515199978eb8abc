"""Finding a function by its name, in source.

debugpy knows functions by their bare name only: `Class.method` never stops, and says it will. So a
name is resolved here to the lines of its `def`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType

from holdfast.core._statements import Scope, is_string, statements
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
    body_line: int
    """Where the body begins to run, past the docstring; the `def` when it is all there is."""
    end_line: int


def find(source: str | bytes, qualname: str) -> FunctionPlace | None:
    """The last definition of `qualname` in `source`; None when there is none, or no sense."""
    path = _parts(qualname)
    if not path:
        return None
    try:
        text = decode(source, "<source>")
        body = parse_quietly(text, "<source>").body
        code = compile_quietly(text, "<source>", "exec")
    except SyntaxError:
        return None
    found = list(_matches(body, path, ""))
    return _place(*found[-1], code) if found else None


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


def _place(node: _Function, qualname: str, module: CodeType) -> FunctionPlace:
    return FunctionPlace(
        name=node.name,
        qualname=qualname,
        def_line=node.lineno,
        first_line=_first_line(node),
        body_line=_body_line(node, module),
        end_line=node.end_lineno or node.lineno,
    )


def _body_line(node: _Function, module: CodeType) -> int:
    """The line that runs first, which is not always where the first statement begins.

    A `return {` runs the lines of its values before its own.
    """
    start = next((_first_line(s) for s in node.body if not is_string(s)), None)
    if start is None:
        return node.lineno
    for code in _code_objects(module):
        if (code.co_name, code.co_firstlineno) == (node.name, _first_line(node)):
            return next((line for _, _, line in code.co_lines() if line and line >= start), start)
    return start


def _code_objects(code: CodeType) -> Iterator[CodeType]:
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _code_objects(inner)


def _first_line(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])
