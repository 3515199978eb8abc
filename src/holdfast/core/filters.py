"""The filter language: one expression over a call, for breakpoints and for lists of calls.

    args[0] > 10        kwargs.get('c') == 5        function == 'add' and len(args) == 2
    'timeout' in exception['message']        duration >= 0.5        status == 'exception'

It looks like Python and is not run as Python: it is parsed, checked, and turned into small closures
over literals (tuples, lists, sets and dicts too), comparisons, `and`/`or`/`not`, arithmetic on
numbers, subscripts, `in`, `len(…)`, `kwargs.get(…)` and the values `Decimal('1.5')`,
`Fraction(1, 3)`, `date(2026, 1, 2)`, `datetime(…)`, `time(…)` and `timedelta(…)`. What is not there
makes a comparison false, and so do types that cannot be compared; nothing raises. What depends on a
value that is no plain data is *undecided*: it does not match, and it says why. The names:

    args  kwargs  result         plain values, as far as they are known
    function  alias  call_type   text            status   running, success, exception, lost
    exception                    None, or a dict with 'type' and 'message'
    duration                     seconds         thread, task   their names

An agent's breakpoints have names of their own, and `input.get(…)` (`core.agents`).
"""

from __future__ import annotations

import ast
import datetime
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from holdfast.core.source_text import no_warnings
from holdfast.errors import InvalidFilter

NAMES = (
    *("args", "kwargs", "function", "alias", "call_type", "status", "result", "exception"),
    *("duration", "thread", "task"),
)
MOST_CHARACTERS = 2000
MOST_PARTS = 250
_LARGEST = 2**256


class _Undecided(Exception):
    """Two values were compared, and one of them is not known."""


@dataclass(frozen=True, eq=False)
class Unknown:
    """A value that is not plain data, and `why` it is not known; its length may be all the same.

    Without a reason it is nothing: an argument that was not given, the result of a call under way.
    """

    length: int | None = None
    why: str | None = None

    def __bool__(self) -> bool:
        return False

    def __eq__(self, other: object) -> bool:
        if self.why is not None:
            raise _Undecided(self.why)
        return self is other

    def __hash__(self) -> int:
        if self.why is not None:
            raise _Undecided(self.why)
        return 0


NOTHING = Unknown()


class Later:
    """A value that is looked at when the expression comes to it, and then once."""

    def __init__(self, look: Callable[[], Any], length: Callable[[], int | None]) -> None:
        self._look = look
        self._found: list[Any] = []
        self.length = length

    def get(self) -> Any:
        if not self._found:
            self._found.append(self._look())
        return self._found[0]


class Given:
    """All arguments of a call: each of them a value, or one for later."""

    def __init__(self, parts: list[Any] | dict[str, Any]) -> None:
        self.parts = parts

    def get(self) -> Any:
        if isinstance(self.parts, dict):
            return {name: _now(part) for name, part in self.parts.items()}
        return _Arguments(map(_now, self.parts))


class _Arguments(tuple[Any, ...]):
    """`args == (1, 2)`, and `args == [1, 2]` as well."""

    def __eq__(self, other: object) -> bool:
        return tuple(self) == (tuple(other) if isinstance(other, list) else other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = tuple.__hash__


Call = Mapping[str, Any]
"""A value for each of NAMES."""
Part = Callable[[Call], Any]


@dataclass(frozen=True)
class Filter:
    text: str
    _evaluate: Part

    def matches(self, call: Call) -> bool:
        return self.judged(call)[0]

    def judged(self, call: Call) -> tuple[bool, str | None]:
        """Whether it matches; if that cannot be told, it does not, and the reason comes too."""
        found = _now(self._evaluate(call))
        return (False, found.why) if isinstance(found, Unknown) else (bool(found), None)


@lru_cache(256)
def parse(text: str, names: tuple[str, ...] = NAMES) -> Filter:
    """The filter in `text`, over `names`; InvalidFilter says where it goes wrong."""
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
    return Filter(text, _Reader(text, names).read(tree.body))


def _invalid(text: str, why: str, offset: int | None) -> InvalidFilter:
    """`offset` counts from 1, in the text without its leading blanks."""
    indent = len(text) - len(text.lstrip())
    position = None if offset is None else offset + indent
    where = "" if position is None else f" at position {position}"
    return InvalidFilter(
        f"not a filter: {text[:200]!r}: {why}{where}", filter=text[:200], error=why, offset=position
    )


# -- values --------------------------------------------------------------------------------------


def _now(value: Any) -> Any:
    return value.get() if isinstance(value, (Later, Given)) else value


def _truth(value: Any) -> bool | Unknown:
    """True, False, or the reason why neither is known."""
    value = _now(value)
    if isinstance(value, Unknown):
        return value if value.why is not None else False
    return bool(value)


def _is_number(value: Any) -> bool:
    """A number of a size that costs nothing."""
    if isinstance(value, Fraction):
        return max(abs(value.numerator), value.denominator) <= _LARGEST
    if isinstance(value, int):
        return not isinstance(value, bool) and abs(value) <= _LARGEST
    return isinstance(value, (float, Decimal))


def _compared(compare: Callable[[Any, Any], Any]) -> Callable[[Any, Any], bool | Unknown]:
    def compared(left: Any, right: Any) -> bool | Unknown:
        left, right = _now(left), _now(right)
        for each in (left, right):
            if isinstance(each, Unknown):
                return False if each.why is None else each
        try:
            return bool(compare(left, right))
        except _Undecided as reason:
            return Unknown(why=str(reason))
        except (TypeError, ValueError, ArithmeticError, RecursionError):
            return False

    return compared


def _contained(wanted: bool) -> Callable[[Any, Any], bool | Unknown]:
    compare = _compared(lambda left, right: (left in right) is wanted)

    def contained(left: Any, right: Any) -> bool | Unknown:
        if isinstance(right, Given) and isinstance(right.parts, dict):
            right = right.parts.keys()  # nobody asks for the values
        return compare(left, right)

    return contained


def _counted(compute: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Arithmetic on numbers, of a size that costs nothing."""

    def counted(left: Any, right: Any) -> Any:
        left, right = _now(left), _now(right)
        for each in (left, right):
            if isinstance(each, Unknown):
                return each
            if not _is_number(each):
                return NOTHING
        try:
            found = compute(left, right)
        except (ArithmeticError, ValueError, TypeError):
            return NOTHING
        return found if _is_number(found) else NOTHING

    return counted


def _item(value: Any, key: Any) -> Any:
    value, key = value.parts if isinstance(value, Given) else _now(value), _now(key)
    for each in (value, key):
        if isinstance(each, Unknown):
            return Unknown(why=each.why)
    try:
        return value[key]
    except _Undecided as reason:
        return Unknown(why=str(reason))
    except (LookupError, TypeError):
        return NOTHING


def _length(value: Any) -> Any:
    if isinstance(value, Given):
        return len(value.parts)
    if isinstance(value, Later):
        length = value.length()
        if length is not None:
            return length
    value = _now(value)
    if isinstance(value, Unknown):
        return Unknown(why=value.why) if value.length is None else value.length
    return len(value) if isinstance(value, _SIZED) else NOTHING


_SIZED = (str, bytes, bytearray, list, tuple, dict, set, frozenset)


_COMPARE: Mapping[type[ast.cmpop], Callable[[Any, Any], bool | Unknown]] = {
    ast.Eq: _compared(operator.eq),
    ast.NotEq: _compared(operator.ne),
    ast.Lt: _compared(operator.lt),
    ast.LtE: _compared(operator.le),
    ast.Gt: _compared(operator.gt),
    ast.GtE: _compared(operator.ge),
    ast.In: _contained(True),
    ast.NotIn: _contained(False),
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
_MAKE: Mapping[str, Callable[..., Any]] = {
    "float": float,
    "Decimal": Decimal,
    "Fraction": Fraction,
    "date": datetime.date,
    "datetime": datetime.datetime,
    "time": datetime.time,
    "timedelta": datetime.timedelta,
    "set": set,
    "frozenset": frozenset,
}


# -- reading -------------------------------------------------------------------------------------


class _Reader:
    """Makes a closure of every part, or says which part is none of this language."""

    def __init__(self, text: str, names: tuple[str, ...]) -> None:
        self._text = text
        self._names = names

    def read(self, node: ast.expr) -> Part:
        match node:
            case ast.Constant(value=value) if _is_plain(value):
                return lambda _call: value
            case ast.Name(id=name) if name in self._names:
                return lambda call: call[name]
            case ast.BoolOp(op=op, values=values):
                return self._joined(isinstance(op, ast.And), values)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                inner = self.read(operand)
                return lambda call: _opposite(_truth(inner(call)))
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
            case ast.List(elts=parts):
                return self._gathered(list, parts)
            case ast.Tuple(elts=parts):
                return self._gathered(tuple, parts)
            case ast.Set(elts=parts):
                return self._gathered(set, parts)
            case ast.Dict(keys=keys, values=values) if None not in keys:
                names = self._gathered(list, [key for key in keys if key is not None])
                inside = self._gathered(list, values)
                return lambda call: _built(
                    lambda: dict(zip(names(call), inside(call), strict=True))
                )
            case ast.Call():
                return self._call(node)
            case _:
                raise self._refused(node)

    def _joined(self, every: bool, values: list[ast.expr]) -> Part:
        parts = [self.read(value) for value in values]

        def joined(call: Call) -> bool | Unknown:
            """As soon as one part settles it; else what is not known of any leaves it open."""
            open_: Unknown | None = None
            for part in parts:
                found = _truth(part(call))
                if isinstance(found, Unknown):
                    open_ = found if open_ is None else open_
                elif found is not every:
                    return found
            return every if open_ is None else open_

        return joined

    def _gathered(self, kind: Callable[[Iterator[Any]], Any], parts: list[ast.expr]) -> Part:
        read = [self.read(part) for part in parts]
        return lambda call: _built(lambda: kind(_now(part(call)) for part in read))

    def _comparison(self, node: ast.Compare) -> Part:
        """`a < b < c` as in Python: each pair in turn, until one is false."""
        parts = [self.read(part) for part in (node.left, *node.comparators)]
        compares = [_COMPARE[type(op)] for op in node.ops]

        def compared(call: Call) -> bool | Unknown:
            left = parts[0](call)
            result: bool | Unknown = True
            for compare, part in zip(compares, parts[1:], strict=True):
                right = part(call)
                found = compare(left, right)
                if found is False:
                    return False
                result = result if found is True else found
                left = right
            return result

        return compared

    def _call(self, node: ast.Call) -> Part:
        match node:
            case ast.Call(func=ast.Name(id="len"), args=[value], keywords=[]):
                inner = self.read(value)
                return lambda call: _length(inner(call))
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="kwargs" | "input" as owner), attr="get"),
                args=[name, *default],
                keywords=[],
            ) if len(default) <= 1 and owner in self._names:
                key = self.read(name)
                other = self.read(default[0]) if default else lambda _call: None
                return lambda call: _got(call[owner], key(call), lambda: other(call))
            case ast.Call(func=ast.Name(id=name)) if name in _MAKE:
                return self._made(node, _MAKE[name])
            case _:
                raise self._refused(node)

    def _made(self, node: ast.Call, make: Callable[..., Any]) -> Part:
        """A value that has no literal, made once, of literals."""
        try:
            given = [ast.literal_eval(each) for each in node.args]
            named = {each.arg or "": ast.literal_eval(each.value) for each in node.keywords}
            made = make(*given, **named)
        except (ValueError, TypeError, ArithmeticError, RecursionError, MemoryError) as problem:
            shown = f"{ast.unparse(node)[:80]!r} is no value: {problem or type(problem).__name__}"
            raise _invalid(self._text, shown, node.col_offset + 1) from None
        return lambda _call: made

    def _refused(self, node: ast.expr) -> InvalidFilter:
        shown = ast.unparse(node)[:80]
        why = f"{shown!r} is not part of the filter language"
        if isinstance(node, ast.Name):
            why = f"there is no name {node.id!r}; there are {', '.join(self._names)}"
        return _invalid(self._text, why, node.col_offset + 1)


def _got(named: Any, key: Any, other: Callable[[], Any]) -> Any:
    known, key = named.parts if isinstance(named, Given) else named, _now(key)
    if isinstance(known, Mapping) and isinstance(key, str):
        return known[key] if key in known else other()
    return Unknown(why=key.why) if isinstance(key, Unknown) else NOTHING


def _opposite(found: bool | Unknown) -> bool | Unknown:
    return found if isinstance(found, Unknown) else not found


def _built(build: Callable[[], Any]) -> Any:
    try:
        return build()
    except _Undecided as reason:
        return Unknown(why=str(reason))
    except TypeError:  # what cannot be hashed is in no set
        return NOTHING


def _is_plain(value: Any) -> bool:
    if isinstance(value, int):
        return abs(value) <= _LARGEST
    return value is None or isinstance(value, (float, str, bytes))
