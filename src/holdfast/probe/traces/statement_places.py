"""What the kinds of statements read and write, by their syntax trees."""

from __future__ import annotations

import ast
from typing import Any, Dict

from .place_facts import PlaceFact, PlaceReader
from .place_lookup import compile_lookup

_WITHOUT_PLACES = ("Try", "TryStar")


def add_places(node: Any, reader: PlaceReader) -> None:
    add = _PLACES.get(type(node))
    if add is not None:
        add(node, reader)
    elif isinstance(node, ast.expr):
        reader.read(node)
    elif type(node).__name__ in ("match_case", "Match"):
        _add_match(node, reader)
    elif type(node).__name__ not in _WITHOUT_PLACES:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                reader.read(child)


def _add_definition(node: Any, reader: PlaceReader) -> None:
    reader.write(ast.Name(node.name, ast.Store()))
    for decorator in node.decorator_list:
        reader.read(decorator)
    if isinstance(node, ast.ClassDef):
        for base in node.bases:
            reader.read(base, False)
        return
    for default in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
        reader.read(default)


def _add_import(node: Any, reader: PlaceReader) -> None:
    for alias in node.names:
        name = (alias.asname or alias.name).split(".")[0]
        reader.write(ast.Name(name, ast.Store()))


def _add_test(node: Any, reader: PlaceReader) -> None:
    reader.read(node.test)


def _add_for(node: Any, reader: PlaceReader) -> None:
    reader.iterate(node.iter)
    reader.write(node.target)


def _add_with(node: Any, reader: PlaceReader) -> None:
    for item in node.items:
        reader.read(item.context_expr)
        if item.optional_vars is not None:
            reader.write(item.optional_vars)


def _add_assignment(node: Any, reader: PlaceReader) -> None:
    if node.value is None:
        return
    reader.read(node.value)
    for target in getattr(node, "targets", None) or [node.target]:
        reader.write(target)


def _add_update(node: ast.AugAssign, reader: PlaceReader) -> None:
    reader.read(node.value)
    reader.read(_as_read(node.target))
    reader.write(node.target)
    inplace = _as_read(node.target)
    reader.writes.append(PlaceFact("inplace", inplace, "", compile_lookup(inplace)))


def _as_read(target: Any) -> Any:
    """The same place, as an expression that reads it."""
    expression = ast.parse(ast.unparse(target), mode="eval").body
    return ast.copy_location(expression, target)


def _add_deletion(node: ast.Delete, reader: PlaceReader) -> None:
    for target in node.targets:
        reader.write(target)


def _add_handler(node: ast.ExceptHandler, reader: PlaceReader) -> None:
    if node.name:
        reader.write(ast.Name(node.name, ast.Store()))


def _add_match(node: Any, reader: PlaceReader) -> None:
    if hasattr(node, "subject"):
        reader.read(node.subject)
        return
    if node.guard is not None:
        reader.read(node.guard)
    for part in ast.walk(node.pattern):
        name = getattr(part, "name", None) or getattr(part, "rest", None)
        if isinstance(name, str):
            reader.write(ast.Name(name, ast.Store()))


_PLACES: Dict[type, Any] = {
    ast.FunctionDef: _add_definition,
    ast.AsyncFunctionDef: _add_definition,
    ast.ClassDef: _add_definition,
    ast.Import: _add_import,
    ast.ImportFrom: _add_import,
    ast.If: _add_test,
    ast.While: _add_test,
    ast.For: _add_for,
    ast.AsyncFor: _add_for,
    ast.With: _add_with,
    ast.AsyncWith: _add_with,
    ast.Assign: _add_assignment,
    ast.AnnAssign: _add_assignment,
    ast.AugAssign: _add_update,
    ast.Delete: _add_deletion,
    ast.ExceptHandler: _add_handler,
}
