"""The filter language: one expression over a call, for breakpoints and for lists of calls.

    args[0] > 10        kwargs.get('c') == 5        function == 'add' and len(args) == 2
    'timeout' in exception['message']        duration >= 0.5        status == 'exception'

It looks like Python and is not run as Python: it is parsed, checked, and turned into small closures
over literals, comparisons, `and`/`or`/`not`, arithmetic on numbers, subscripts, `in`, `len(…)` and
`kwargs.get(…)`. What is not known (a value that is no plain data, an argument that is not there)
makes a comparison false; nothing raises. The names:

    args  kwargs  result         plain values, as far as they are known
    function  alias  call_type   text            status   running, success, exception, lost
    exception                    None, or a dict with 'type' and 'message'
    duration                     seconds         thread, task   their names
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from holdfast.core._source import no_warnings
from holdfast.errors import InvalidFilter

NAMES = (
    *("args", "kwargs", "function", "alias", "call_type", "status", "result", "exception"),
    *("duration", "thread", "task"),
)
MOST_CHARACTERS = 2000
MOST_PARTS = 250
_LARGEST = 2**256


@dataclass(frozen=True)
class Unknown:
    """A value that is not plain data; its length may be known all the same."""

    length: int | None = None

    def __bool__(self) -> bool:
        return False


NOTHING = Unknown()
Call = Mapping[str, Any]
"""A value for each of NAMES."""
Part = Callable[[Call], Any]


@dataclass(frozen=True)
class Filter:
    text: str
    _evaluate: Part

    def matches(self, call: Call) -> bool:
        return _truth(self._evaluate(call))


@lru_cache(256)
def parse(text: str) -> Filter:
    """The filter in `text`; InvalidFilter says where it goes wrong."""
    if len(text) > MOST_CHARACTERS:
        raise _invalid(text, f"it is longer than {MOST_CHARACTERS} characters", None)
    try:
        with no_warnings():
            tree = ast.parse(text.strip(), mode="eval")
    except SyntaxError as problem:
        raise _invalid(text, problem.msg, problem.offset) from None
    except (ValueError, RecursionError, MemoryError) as problem:
        raise _invalid(text, str(problem) or "it is nested too deeply", None) from None
    if sum(1 for _ in ast.walk(tree)) > MOST_PARTS:
        raise _invalid(text, f"it has more than {MOST_PARTS} parts", None)
    return Filter(text, _Reader(text).read(tree.body))


def _invalid(text: str, why: str, offset: int | None) -> InvalidFilter:
    """`offset` counts from 1, in the text without its leading blanks."""
    indent = len(text) - len(text.lstrip())
    position = None if offset is None else offset + indent
    where = "" if position is None else f" at position {position}"
    return InvalidFilter(
        f"not a filter: {text[:200]!r}: {why}{where}", filter=text[:200], error=why, offset=position
    )


# -- values --------------------------------------------------------------------------------------


def _truth(value: Any) -> bool:
    return bool(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _compared(compare: Callable[[Any, Any], Any]) -> Callable[[Any, Any], bool]:
    def compared(left: Any, right: Any) -> bool:
        if isinstance(left, Unknown) or isinstance(right, Unknown):
            return False
        try:
            return bool(compare(left, right))
        except (TypeError, ValueError, RecursionError):
            return False

    return compared


def _counted(compute: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Arithmetic on numbers, of a size that costs nothing."""

    def counted(left: Any, right: Any) -> Any:
        if not (_is_number(left) and _is_number(right)):
            return NOTHING
        try:
            found = compute(left, right)
        except (ArithmeticError, ValueError):
            return NOTHING
        return NOTHING if isinstance(found, int) and abs(found) > _LARGEST else found

    return counted


def _item(value: Any, key: Any) -> Any:
    if isinstance(value, Unknown) or isinstance(key, Unknown):
        return NOTHING
    try:
        return value[key]
    except (LookupError, TypeError):
        return NOTHING


def _length(value: Any) -> Any:
    if isinstance(value, Unknown):
        return NOTHING if value.length is None else value.length
    return len(value) if isinstance(value, (str, bytes, list, tuple, dict, set)) else NOTHING


_COMPARE: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: _compared(operator.eq),
    ast.NotEq: _compared(operator.ne),
    ast.Lt: _compared(operator.lt),
    ast.LtE: _compared(operator.le),
    ast.Gt: _compared(operator.gt),
    ast.GtE: _compared(operator.ge),
    ast.In: _compared(lambda left, right: left in right),
    ast.NotIn: _compared(lambda left, right: left not in right),
    # Only ever asked of None, True and False here: identity of anything else means nothing.
    ast.Is: _compared(lambda left, right: type(left) is type(right) and left == right),
    ast.IsNot: _compared(lambda left, right: not (type(left) is type(right) and left == right)),
}
_COUNT: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: _counted(operator.add),
    ast.Sub: _counted(operator.sub),
    ast.Mult: _counted(operator.mul),
    ast.Div: _counted(operator.truediv),
    ast.FloorDiv: _counted(operator.floordiv),
    ast.Mod: _counted(operator.mod),
}


# -- reading -------------------------------------------------------------------------------------


class _Reader:
    """Makes a closure of every part, or says which part is none of this language."""

    def __init__(self, text: str) -> None:
        self._text = text

    def read(self, node: ast.expr) -> Part:
        match node:
            case ast.Constant(value=value) if _is_plain(value):
                return lambda _call: value
            case ast.Name(id=name) if name in NAMES:
                return lambda call: call[name]
            case ast.BoolOp(op=op, values=values):
                return self._joined(isinstance(op, ast.And), values)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                inner = self.read(operand)
                return lambda call: not _truth(inner(call))
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() as op, operand=operand):
                inner, sign = self.read(operand), -1 if isinstance(op, ast.USub) else 1
                times = _COUNT[ast.Mult]
                return lambda call: times(inner(call), sign)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _COUNT:
                first, second, compute = self.read(left), self.read(right), _COUNT[type(op)]
                return lambda call: compute(first(call), second(call))
            case ast.Compare():
                return self._comparison(node)
            case ast.Subscript(value=value, slice=key):
                whole, index = self.read(value), self.read(key)
                return lambda call: _item(whole(call), index(call))
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
                read = [self.read(part) for part in parts]
                return lambda call: [part(call) for part in read]
            case ast.Call():
                return self._call(node)
            case _:
                raise self._refused(node)

    def _joined(self, every: bool, values: list[ast.expr]) -> Part:
        parts = [self.read(value) for value in values]
        join = all if every else any
        return lambda call: join(_truth(part(call)) for part in parts)

    def _comparison(self, node: ast.Compare) -> Part:
        """`a < b < c` as in Python: each pair in turn, until one is false."""
        parts = [self.read(part) for part in (node.left, *node.comparators)]
        compares = [_COMPARE[type(op)] for op in node.ops]

        def compared(call: Call) -> bool:
            left = parts[0](call)
            for compare, part in zip(compares, parts[1:], strict=True):
                right = part(call)
                if not compare(left, right):
                    return False
                left = right
            return True

        return compared

    def _call(self, node: ast.Call) -> Part:
        match node:
            case ast.Call(func=ast.Name(id="len"), args=[value], keywords=[]):
                inner = self.read(value)
                return lambda call: _length(inner(call))
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="kwargs"), attr="get"),
                args=[name, *default],
                keywords=[],
            ) if len(default) <= 1:
                key = self.read(name)
                other = self.read(default[0]) if default else lambda _call: None
                return lambda call: _got(call["kwargs"], key(call), lambda: other(call))
            case _:
                raise self._refused(node)

    def _refused(self, node: ast.expr) -> InvalidFilter:
        shown = ast.unparse(node)[:80]
        why = f"{shown!r} is not part of the filter language"
        if isinstance(node, ast.Name):
            why = f"there is no name {node.id!r}; there are {', '.join(NAMES)}"
        return _invalid(self._text, why, node.col_offset + 1)


def _got(kwargs: Any, key: Any, other: Callable[[], Any]) -> Any:
    if isinstance(kwargs, Mapping) and isinstance(key, str):
        return kwargs[key] if key in kwargs else other()
    return NOTHING


def _is_plain(value: Any) -> bool:
    if isinstance(value, int):
        return abs(value) <= _LARGEST
    return value is None or isinstance(value, (float, str, bytes))
