"""The values in a failed assertion, by the expressions that they came from.

pytest rewrites `assert` so that each part of it is kept in a local called `@py_assertN`. Which part
that is follows from rewriting the same statement again, so no version's numbering is known here.
`unittest` has the operands as arguments of `assertEqual` and the like. What cannot be told for sure
is left out: pytest's own explanation, the message of the exception, says it in its words.
"""

from __future__ import annotations

import ast
import builtins
import linecache
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

_PREFIX = "@py_assert"
_MAX_OPERANDS = 12
_MAX_SOURCE = 500
_MISSING = object()
_CALLABLE = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, type)

Operands = list[tuple[str, Any]]
_Node = TypeVar("_Node", ast.Assert, ast.Call)


class AssertionDetails:
    """The source of an assertion, and its operands."""

    def __init__(self, source: str, operands: Operands, is_comparison: bool = False) -> None:
        self.source = source[:_MAX_SOURCE]
        self.operands = operands[:_MAX_OPERANDS]
        self.is_comparison = is_comparison
        """The first two operands are the sides of a comparison."""


def find_details(frame: Any, line: int, called: Any, config: Any) -> AssertionDetails | None:
    """Of the statement where a frame failed, if it is an assertion.

    `called` is the frame that it had called then, if any; `config` is pytest's."""
    if called is not None:
        return _find_unittest_details(frame, line, called)
    statement = _find_node(frame, line, ast.Assert)
    return None if statement is None else _describe_assert(statement, frame, config)


def _find_node(
    frame: Any, line: int, kind: type[_Node], is_meant: Callable[[_Node], bool] = lambda _: True
) -> _Node | None:
    """The innermost node of a kind that a line is part of."""
    lines = linecache.getlines(frame.f_code.co_filename, frame.f_globals)
    try:
        tree = ast.parse("".join(lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, kind)
        and node.lineno <= line <= (node.end_lineno or node.lineno)
        and is_meant(node)
    ]
    return max(found, key=lambda node: (node.lineno, -(node.end_lineno or 0)), default=None)


# -- assert ---------------------------------------------------------------------------------------


def _describe_assert(statement: ast.Assert, frame: Any, config: Any) -> AssertionDetails:
    source = ast.unparse(ast.Assert(statement.test))
    values = dict(_iter_kept(statement, frame.f_locals, config))
    names = _Names(frame)
    sides = _list_sides(statement.test)
    known = [(ast.unparse(side), _find_value(side, values, names)) for side in sides]
    is_comparison = bool(known) and all(value is not _MISSING for _, value in known)
    operands: Operands = known if is_comparison else []
    shown = {expression for expression, _ in operands} | {ast.unparse(statement.test)}
    for node in _iter_parts(statement.test):
        expression = ast.unparse(node)
        value = _find_value(node, values, names)
        if expression in shown or value is _MISSING or isinstance(value, _CALLABLE):
            continue
        shown.add(expression)
        operands.append((expression, value))
    return AssertionDetails(source, operands, is_comparison)


def _list_sides(test: ast.expr) -> list[ast.expr]:
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return [test.left, test.comparators[0]]
    return []


def _iter_parts(test: ast.expr) -> Iterator[ast.expr]:
    """The expressions in it that have a value of their own, outer ones first.

    Those inside a comprehension or a lambda have none."""
    waiting: list[ast.AST] = [test]
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            continue
        if isinstance(node, (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.BinOp)):
            yield node
        if not isinstance(node, ast.Lambda):
            waiting.extend(ast.iter_child_nodes(node))


def _find_value(node: ast.expr, values: Mapping[str, Any], names: _Names) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return names.find(node.id)
    return values.get(ast.unparse(node), _MISSING)


class _Names:
    """The names that a frame sees."""

    def __init__(self, frame: Any) -> None:
        self._scopes = (frame.f_locals, frame.f_globals, vars(builtins))

    def find(self, name: str) -> Any:
        for scope in self._scopes:
            if name in scope:
                return scope[name]
        return _MISSING


def _iter_kept(
    statement: ast.Assert, kept: Mapping[str, Any], config: Any
) -> Iterator[tuple[str, Any]]:
    """Each expression whose value pytest has kept in the frame."""
    if not any(name.startswith(_PREFIX) for name in kept):
        return  # a file that is not rewritten
    definitions = _rewrite(statement, config)
    is_partial = any(isinstance(node, (ast.BoolOp, ast.IfExp)) for node in ast.walk(statement))
    for name, definition in definitions.items():
        if name not in kept or definition is None:
            continue
        # What was not evaluated may be None, too: earlier assertions leave that behind.
        if kept[name] is None and is_partial:
            continue
        expression = _Restorer(definitions).restore(definition)
        if expression is not None:
            yield expression, kept[name]


def _rewrite(statement: ast.Assert, config: Any) -> dict[str, ast.expr | None]:
    """What is assigned to each `@py_assertN`; None where that depends on how it runs."""
    try:
        from _pytest.assertion.rewrite import rewrite_asserts

        module = ast.parse(ast.unparse(statement))
        rewrite_asserts(module, ast.unparse(statement).encode(), None, config)
    except Exception:  # of pytest's own code, which may change: then there are no operands
        return {}
    definitions: dict[str, ast.expr | None] = {}
    for node in ast.walk(module):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            is_cleared = isinstance(node.value, ast.Constant) and node.value.value is None
            if name.startswith(_PREFIX) and not is_cleared:
                definitions[name] = None if name in definitions else node.value
    return definitions


class _Restorer(ast.NodeTransformer):
    """Puts the expressions back in place of the names that pytest keeps them in."""

    def __init__(self, definitions: Mapping[str, ast.expr | None]) -> None:
        self._definitions = definitions
        self._is_known = True

    def restore(self, definition: ast.expr) -> str | None:
        copied = ast.parse(ast.unparse(definition).replace("@py_", "__py_"), mode="eval").body
        text = ast.unparse(self.visit(copied))
        return text if self._is_known else None

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if not node.id.startswith("__py_assert"):
            return node
        definition = self._definitions.get("@" + node.id[2:])
        if definition is None:
            self._is_known = False
            return node
        text = ast.unparse(definition).replace("@py_", "__py_")
        return self.visit(ast.parse(text, mode="eval").body)  # type: ignore[no-any-return]


# -- unittest -------------------------------------------------------------------------------------


def _find_unittest_details(frame: Any, line: int, called: Any) -> AssertionDetails | None:
    """`assertEqual(total, 3)`: its arguments are in the frame that was called."""
    code = called.f_code
    if "__unittest" not in called.f_globals or not code.co_name.startswith("assert"):
        return None
    parameters = [name for name in code.co_varnames[1 : code.co_argcount] if name != "msg"]
    given = {name: called.f_locals[name] for name in parameters if name in called.f_locals}

    def is_assertion(call: ast.Call) -> bool:
        return isinstance(call.func, ast.Attribute) and call.func.attr == code.co_name

    call = _find_node(frame, line, ast.Call, is_assertion)
    if call is None:
        return AssertionDetails(code.co_name, list(given.items()))
    texts = [ast.unparse(argument) for argument in call.args]
    operands = [
        (texts[at] if at < len(texts) else name, value)
        for at, (name, value) in enumerate(given.items())
    ]
    is_comparison = parameters[:2] == ["first", "second"]
    return AssertionDetails(ast.unparse(call), operands, is_comparison)
