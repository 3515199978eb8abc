"""Rules out writes to a hot place at once: those of plain values that cannot stop the program.

The value is the same and only changes count, a simple condition is false, or the hit count is not
reached. A simple condition compares `old`, `new` and constants, so evaluating it runs none of the
program's code, and it may be done in the middle of a write. All of it becomes one function.
"""

from __future__ import annotations

import ast
from _thread import get_ident
from typing import Any, Callable, Optional, Tuple

from .fingerprints import ATOMIC, COMPARABLE, MISSING
from .thread_suspension import HELD

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
_BEGIN = """
def is_quiet(old, new):
    if type(new) not in plain or type(old) not in plain or watch.mark is not None:
        return False
    try:
"""
_IF_UNCHANGED = """
        if type(new) is type(old) and type(new) in comparable and new == old:
            return True
"""
_IF_FALSE = """
        if not condition:
            rule.passes += 1
            return True
"""
_IF_NOT_COUNTED = """
        if held:
            return False
        rule.hits = hits = next(count)
        if not %s:
            return True
        rule.ahead[get_ident()] = hits
"""
_END = """
    except Exception:  # the rule evaluates it again, and says what is wrong
        pass
    return False
"""


def make_test(watch: Any, rule: Any, only_changes: bool) -> Callable[[Any, Any], bool]:
    """Whether a write from one value to another cannot stop the program."""
    condition = rule.condition
    tree = _parse_simple(condition.text) if condition is not None and condition.is_plain else None
    is_countable = rule.hit is not None and (condition is None or tree is not None)
    parts = [
        *([_IF_UNCHANGED] if only_changes else []),
        *([_IF_FALSE] if tree is not None else []),
        *([_IF_NOT_COUNTED % _write_comparison(rule.hit)] if is_countable else []),
    ]
    if not parts:
        return _is_never_quiet
    function: Any = ast.parse("".join([_BEGIN, *parts, _END]))
    if tree is not None:
        function = ast.fix_missing_locations(_Insertion(tree.body).visit(function))
    names = {
        "plain": _PLAIN,
        "comparable": COMPARABLE,
        "held": HELD,
        "count": rule.count,
        "get_ident": get_ident,
        "watch": watch,
        "rule": rule,
    }
    exec(compile(function, __file__, "exec"), names)
    test: Callable[[Any, Any], bool] = names["is_quiet"]
    return test


def _write_comparison(hit: Tuple[str, int]) -> str:
    operator, number = hit
    return "(hits % {0} == 0)".format(number) if operator == "%" else "(hits %s %d)" % hit


def _parse_simple(text: str) -> Optional[ast.Expression]:
    """The condition, if it is a simple one."""
    tree = ast.parse(text.strip(), mode="eval")
    return tree if _is_simple(tree) else None


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
