"""Rules out writes to a hot place at once: those of plain values where a simple condition is false.

Such a condition compares `old`, `new` and constants, so evaluating it runs none of the program's
code, and it may be done in the middle of a write. It is compiled into a function of its own.
"""

from __future__ import annotations

import ast
from typing import Any, Callable

from .fingerprints import ATOMIC, MISSING

_PLAIN = ATOMIC - {type(MISSING)}
_SIMPLE = (
    ast.Expression,
    ast.Name,
    ast.Constant,
    ast.Compare,
    ast.BoolOp,
    ast.BinOp,
    ast.UnaryOp,
    ast.operator,
    ast.unaryop,
    ast.boolop,
    ast.cmpop,
    ast.expr_context,
)
_COSTLY = (ast.Pow, ast.LShift, ast.Mult)  # of large numbers or long texts
_TEMPLATE = """
def is_quiet(old, new):
    if type(new) in plain and type(old) in plain and watch.mark is None:
        try:
            if not condition:
                rule.passes += 1
                return True
        except Exception:  # the rule evaluates it again, and says what is wrong
            pass
    return False
"""


def make_test(watch: Any, rule: Any) -> Callable[[Any, Any], bool]:
    """Whether a write from one value to another cannot stop the program."""
    condition = rule.condition
    if condition is None or not condition.is_plain:
        return _is_never_quiet
    tree = ast.parse(condition.text.strip(), mode="eval")
    if not _is_simple(tree):
        return _is_never_quiet
    function = _Insertion(tree.body).visit(ast.parse(_TEMPLATE))
    names = {"plain": _PLAIN, "watch": watch, "rule": rule}
    exec(compile(ast.fix_missing_locations(function), __file__, "exec"), names)
    test: Callable[[Any, Any], bool] = names["is_quiet"]
    return test


def _is_never_quiet(_old: Any, _new: Any) -> bool:
    return False


def _is_simple(tree: ast.AST) -> bool:
    for node in ast.walk(tree):
        if not isinstance(node, _SIMPLE) or isinstance(node, _COSTLY):
            return False
        if isinstance(node, ast.Name) and node.id not in ("old", "new"):
            return False
    return True


class _Insertion(ast.NodeTransformer):
    """Puts an expression in the place of the name `condition`."""

    def __init__(self, expression: ast.expr) -> None:
        self._expression = expression

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return self._expression if node.id == "condition" else node
