"""The filter language: one expression over a call, for breakpoints and for lists of calls.

    item == 'tea'       order.total > 10            function == 'add' and len(args) == 2
    args[0] > 10        kwargs.get('c') == 5        status == 'exception'
    duration >= 0.5     'timeout' in exception['message']

It looks like Python but is not run as Python. It is parsed, checked, and compiled to closures. It
has literals (tuples, lists, sets and dicts too), comparisons, `and`/`or`/`not`, arithmetic on
numbers, subscripts, attributes, `in`, `len(…)`, `kwargs.get(…)` and the values `Decimal('1.5')`,
`Fraction(1, 3)`, `date(2026, 1, 2)`, `datetime(…)`, `time(…)` and `timedelta(…)`. A comparison with
a missing value, or of types that cannot be compared, is false. Nothing raises. An expression that
depends on a value that is not plain data is *undecided*: it does not match, and says why. Names:

    args  kwargs  result         plain values, as far as they are known
    function  alias  call_type   text            status   running, success, exception, lost
    exception                    None, or a dict with 'type' and 'message'
    duration                     seconds         thread, task   their names
    params                       the parameters of the function by name, defaults included

Any other name is a parameter of the function that is called. A parameter with one of the names
above is `params['status']`.

The breakpoints of agents have other names, and `input.get(…)`: see `core.agent_breakpoints`.
"""

from __future__ import annotations

import ast
import datetime
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from holdfast.core.source_text import suppress_warnings
from holdfast.errors import InvalidFilter

NAMES = (
    *("args", "kwargs", "function", "alias", "call_type", "status", "result", "exception"),
    *("duration", "thread", "task", "params"),
)
_WITH_ATTRIBUTES = ("result", "exception")
"""Those of NAMES that may have attributes. Parameters may, too."""
MAX_CHARACTERS = 2000
MAX_PARTS = 250
_MAX_NUMBER = 2**256
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)")


class _Undecided(Exception):
    """A comparison depends on a value that is not known."""


@dataclass(frozen=True, eq=False)
class Unknown:
    """A value that is not plain data, and the reason `why`.

    Its length may be known, and the attributes that were stored of it.

    Without a reason the value is missing: an argument that was not given, or the result of a call
    that still runs.
    """

    length: int | None = None
    why: str | None = None
    attributes: Callable[[], Mapping[str, Any]] | None = None

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


class LazyValue:
    """A value that is loaded once, when the expression needs it."""

    def __init__(self, load: Callable[[], Any], length: Callable[[], int | None]) -> None:
        self._load = load
        self._loaded: list[Any] = []
        self.length = length

    def get(self) -> Any:
        if not self._loaded:
            self._loaded.append(self._load())
        return self._loaded[0]


class Arguments:
    """The positional or the keyword arguments of a call, each a value or a lazy one."""

    def __init__(self, parts: list[Any] | dict[str, Any]) -> None:
        self.parts = parts

    def get(self) -> Any:
        if isinstance(self.parts, dict):
            return {name: _resolve(part) for name, part in self.parts.items()}
        return _Positional(map(_resolve, self.parts))


class ParameterValues(Arguments):
    """The values of a call by parameter. They are bound when the expression needs one of them.

    `describe_missing` gives the value of a name that is no parameter.
    """

    def __init__(
        self, bind: Callable[[], dict[str, Any]], describe_missing: Callable[[str], Any]
    ) -> None:
        self._bind = bind
        self._bound: dict[str, Any] | None = None
        self._describe_missing = describe_missing

    @property
    def parts(self) -> dict[str, Any]:  # type: ignore[override]
        if self._bound is None:
            self._bound = self._bind()
        return self._bound

    def get_named(self, name: str) -> Any:
        parts = self.parts
        return parts[name] if name in parts else self._describe_missing(name)


class Facts(dict[str, Any]):
    """A dict whose keys are attributes, too: `exception['type']`, `exception.type`."""


class _Positional(tuple[Any, ...]):
    """Equal to a tuple and to a list: `args == (1, 2)`, `args == [1, 2]`."""

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
    parameters: tuple[str, ...] = ()
    """The names in it that are parameters of the function."""
    own_names: tuple[str, ...] = ()
    """The names in it that the language has."""

    def matches(self, call: Call) -> bool:
        return self.decide(call)[0]

    def decide(self, call: Call) -> tuple[bool, str | None]:
        """Whether it matches. If that is undecided, False and the reason."""
        value = _resolve(self._evaluate(call))
        return (False, value.why) if isinstance(value, Unknown) else (bool(value), None)


@lru_cache(256)
def parse(text: str, names: tuple[str, ...] = NAMES) -> Filter:
    """Compile an expression over `names`. Raises InvalidFilter, which says where it is wrong.

    If `params` is one of them, any other name is that of a parameter.
    """
    if len(text) > MAX_CHARACTERS:
        raise _invalid(text, f"it is longer than {MAX_CHARACTERS} characters", None)
    try:
        with suppress_warnings():
            tree = ast.parse(text.strip(), mode="eval")
    except SyntaxError as problem:
        raise _invalid(text, problem.msg, _count_characters(text, problem)) from None
    except (ValueError, RecursionError, MemoryError) as problem:
        raise _invalid(text, str(problem) or "it is nested too deeply", None) from None
    if sum(1 for _ in ast.walk(tree)) > MAX_PARTS:
        raise _invalid(text, f"it has more than {MAX_PARTS} parts", None)
    compiler = _Compiler(text, names)
    evaluate = compiler.compile(tree.body)
    return Filter(text, evaluate, tuple(compiler.parameters), tuple(compiler.own_names))


def _invalid(text: str, why: str, offset: int | None) -> InvalidFilter:
    """`offset` counts from 1, without the leading blanks of the text."""
    indent = len(text) - len(text.lstrip())
    position = None if offset is None else offset + indent
    where = "" if position is None else f" at position {position}"
    return InvalidFilter(
        f"not a filter: {text[:200]!r}: {why}{where}", filter=text[:200], error=why, offset=position
    )


def _count_characters(text: str, problem: SyntaxError) -> int:
    """Where a problem is, over all lines of the text."""
    stripped = text.strip()
    if not problem.offset:  # it ends too early
        return len(stripped) + 1
    place = _count_lines_before(stripped, problem.lineno or 1) + problem.offset
    return min(place, len(stripped) + 1)


def _find_place(text: str, node: ast.expr) -> int:
    """The place of a part in characters; its own column counts bytes."""
    stripped = text.strip()
    start = _count_lines_before(stripped, node.lineno)
    return start + len(stripped[start:].encode()[: node.col_offset].decode()) + 1


def _count_lines_before(text: str, line: int) -> int:
    """How many characters the lines before this one have."""
    return sum(map(len, _LINE.findall(text)[: line - 1]))


# -- values --------------------------------------------------------------------------------------


def _resolve(value: Any) -> Any:
    return value.get() if isinstance(value, (LazyValue, Arguments)) else value


def _to_truth(value: Any) -> bool | Unknown:
    """True, False, or unknown with a reason."""
    value = _resolve(value)
    if isinstance(value, Unknown):
        return value if value.why is not None else False
    return bool(value)


def _is_number(value: Any) -> bool:
    """Whether it is a number, and not so large that computing with it is slow."""
    if isinstance(value, Fraction):
        return max(abs(value.numerator), value.denominator) <= _MAX_NUMBER
    if isinstance(value, int):
        return not isinstance(value, bool) and abs(value) <= _MAX_NUMBER
    return isinstance(value, (float, Decimal))


def _comparison(compare: Callable[[Any, Any], Any]) -> Callable[[Any, Any], bool | Unknown]:
    def compare_safely(left: Any, right: Any) -> bool | Unknown:
        left, right = _resolve(left), _resolve(right)
        for side in (left, right):
            if isinstance(side, Unknown):
                return False if side.why is None else side
        try:
            return bool(compare(left, right))
        except _Undecided as reason:
            return Unknown(why=str(reason))
        except (TypeError, ValueError, ArithmeticError, RecursionError):
            return False

    return compare_safely


def _membership(wanted: bool) -> Callable[[Any, Any], bool | Unknown]:
    compare = _comparison(lambda left, right: (left in right) is wanted)

    def contains(left: Any, right: Any) -> bool | Unknown:
        if isinstance(right, Arguments) and isinstance(right.parts, dict):
            right = right.parts.keys()  # the values are not needed
        return compare(left, right)

    return contains


def _wrap_arithmetic(compute: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def compute_safely(left: Any, right: Any) -> Any:
        left, right = _resolve(left), _resolve(right)
        for side in (left, right):
            if isinstance(side, Unknown):
                return side
            if not _is_number(side):
                return NOTHING
        try:
            result = compute(left, right)
        except (ArithmeticError, ValueError, TypeError):
            return NOTHING
        return result if _is_number(result) else NOTHING

    return compute_safely


def _get_item(value: Any, key: Any) -> Any:
    value, key = value.parts if isinstance(value, Arguments) else _resolve(value), _resolve(key)
    for part in (value, key):
        if isinstance(part, Unknown):
            return Unknown(why=part.why)
    try:
        return value[key]
    except _Undecided as reason:
        return Unknown(why=str(reason))
    except (LookupError, TypeError):
        return NOTHING


def _get_attribute(value: Any, name: str) -> Any:
    value = _resolve(value)
    if isinstance(value, Unknown):
        if value.why is None:
            return value
        attributes = value.attributes() if value.attributes is not None else {}
        if name in attributes:
            return attributes[name]
        return Unknown(why=f"{value.why}; its attribute {name!r} was not stored")
    if isinstance(value, Facts):
        return value.get(name, NOTHING)
    if isinstance(value, tuple):  # what a named tuple is read as
        return Unknown(why=f"the names of a tuple's items are not stored: {name!r}")
    for kind, names in _ATTRIBUTES.items():
        if isinstance(value, kind) and name in names:
            return getattr(value, name)
    return NOTHING


_ATTRIBUTES: Mapping[type, tuple[str, ...]] = {
    datetime.date: ("year", "month", "day"),
    datetime.datetime: ("hour", "minute", "second", "microsecond"),
    datetime.time: ("hour", "minute", "second", "microsecond"),
    datetime.timedelta: ("days", "seconds", "microseconds"),
    Fraction: ("numerator", "denominator"),
    complex: ("real", "imag"),
}


def _get_length(value: Any) -> Any:
    if isinstance(value, Arguments):
        return len(value.parts)
    if isinstance(value, LazyValue):
        length = value.length()
        if length is not None:
            return length
    value = _resolve(value)
    if isinstance(value, Unknown):
        return Unknown(why=value.why) if value.length is None else value.length
    return len(value) if isinstance(value, _SIZED) else NOTHING


_SIZED = (str, bytes, bytearray, list, tuple, dict, set, frozenset)


_COMPARE: Mapping[type[ast.cmpop], Callable[[Any, Any], bool | Unknown]] = {
    ast.Eq: _comparison(operator.eq),
    ast.NotEq: _comparison(operator.ne),
    ast.Lt: _comparison(operator.lt),
    ast.LtE: _comparison(operator.le),
    ast.Gt: _comparison(operator.gt),
    ast.GtE: _comparison(operator.ge),
    ast.In: _membership(True),
    ast.NotIn: _membership(False),
    # Used for None, True and False. For other values, identity has no meaning here.
    ast.Is: _comparison(lambda left, right: type(left) is type(right) and left == right),
    ast.IsNot: _comparison(lambda left, right: not (type(left) is type(right) and left == right)),
}
_ARITHMETIC: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: _wrap_arithmetic(operator.add),
    ast.Sub: _wrap_arithmetic(operator.sub),
    ast.Mult: _wrap_arithmetic(operator.mul),
    ast.Div: _wrap_arithmetic(operator.truediv),
    ast.FloorDiv: _wrap_arithmetic(operator.floordiv),
    ast.Mod: _wrap_arithmetic(operator.mod),
}
_CONSTRUCTORS: Mapping[str, Callable[..., Any]] = {
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


# -- compiling -----------------------------------------------------------------------------------


class _Compiler:
    """Turns every part of an expression into a closure. Refuses what the language does not have."""

    def __init__(self, text: str, names: tuple[str, ...]) -> None:
        self._text = text
        self._names = names
        self.parameters: dict[str, None] = {}
        self.own_names: dict[str, None] = {}

    def compile(self, node: ast.expr) -> Part:
        match node:
            case ast.Constant(value=value) if _is_plain(value):
                return lambda _call: value
            case ast.Name(id=name) if name in self._names:
                self.own_names[name] = None
                return lambda call: call[name]
            case ast.Name(id=name) if "params" in self._names:
                self.parameters[name] = None
                return lambda call: call["params"].get_named(name)
            case ast.BoolOp(op=op, values=values):
                return self._compile_and_or(isinstance(op, ast.And), values)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                inner = self.compile(operand)
                return lambda call: _negate(_to_truth(inner(call)))
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() as op, operand=operand):
                inner, sign = self.compile(operand), -1 if isinstance(op, ast.USub) else 1
                times = _ARITHMETIC[ast.Mult]
                return lambda call: times(inner(call), sign)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
                first, second, compute = (
                    self.compile(left),
                    self.compile(right),
                    _ARITHMETIC[type(op)],
                )
                return lambda call: compute(first(call), second(call))
            case ast.Compare():
                return self._compile_comparison(node)
            case ast.Subscript(value=value, slice=key):
                whole, index = self.compile(value), self.compile(key)
                return lambda call: _get_item(whole(call), index(call))
            case ast.Attribute(value=value, attr=name) if self._may_have_attribute(value, name):
                owner = self.compile(value)
                return lambda call: _get_attribute(owner(call), name)
            case ast.List(elts=parts):
                return self._compile_display(list, parts)
            case ast.Tuple(elts=parts):
                return self._compile_display(tuple, parts)
            case ast.Set(elts=parts):
                return self._compile_display(set, parts)
            case ast.Dict(keys=keys, values=values) if None not in keys:
                names = self._compile_display(list, [key for key in keys if key is not None])
                inside = self._compile_display(list, values)
                return lambda call: _build(
                    lambda: dict(zip(names(call), inside(call), strict=True))
                )
            case ast.Call():
                return self._compile_call(node)
            case _:
                raise self._refuse(node)

    def _may_have_attribute(self, value: ast.expr, name: str) -> bool:
        if "params" not in self._names or (name.startswith("__") and name.endswith("__")):
            return False
        if isinstance(value, ast.Name) and value.id in self._names:
            return value.id in _WITH_ATTRIBUTES
        return not isinstance(value, ast.Constant)

    def _compile_and_or(self, every: bool, values: list[ast.expr]) -> Part:
        parts = [self.compile(value) for value in values]

        def evaluate(call: Call) -> bool | Unknown:
            """Stop at the first part that decides. If none does, an unknown part leaves it open."""
            undecided: Unknown | None = None
            for part in parts:
                truth = _to_truth(part(call))
                if isinstance(truth, Unknown):
                    undecided = truth if undecided is None else undecided
                elif truth is not every:
                    return truth
            return every if undecided is None else undecided

        return evaluate

    def _compile_display(self, kind: Callable[[Iterator[Any]], Any], parts: list[ast.expr]) -> Part:
        read = [self.compile(part) for part in parts]
        return lambda call: _build(lambda: kind(_resolve(part(call)) for part in read))

    def _compile_comparison(self, node: ast.Compare) -> Part:
        """`a < b < c` as in Python: pair by pair, until one is false."""
        parts = [self.compile(part) for part in (node.left, *node.comparators)]
        compares = [_COMPARE[type(op)] for op in node.ops]

        def evaluate(call: Call) -> bool | Unknown:
            left = parts[0](call)
            result: bool | Unknown = True
            for compare, part in zip(compares, parts[1:], strict=True):
                right = part(call)
                truth = compare(left, right)
                if truth is False:
                    return False
                result = result if truth is True else truth
                left = right
            return result

        return evaluate

    def _compile_call(self, node: ast.Call) -> Part:
        match node:
            case ast.Call(func=ast.Name(id="len"), args=[value], keywords=[]):
                inner = self.compile(value)
                return lambda call: _get_length(inner(call))
            case ast.Call(
                func=ast.Attribute(
                    value=ast.Name(id="kwargs" | "params" | "input" as owner), attr="get"
                ),
                args=[name, *default],
                keywords=[],
            ) if len(default) <= 1 and owner in self._names:
                self.own_names[owner] = None
                key = self.compile(name)
                other = self.compile(default[0]) if default else lambda _call: None
                return lambda call: _get_by_name(call[owner], key(call), lambda: other(call))
            case ast.Call(func=ast.Name(id=name)) if name in _CONSTRUCTORS:
                return self._compile_constructor(node, _CONSTRUCTORS[name])
            case _:
                raise self._refuse(node)

    def _compile_constructor(self, node: ast.Call, make: Callable[..., Any]) -> Part:
        """A value that has no literal, built once from literals."""
        try:
            args = [ast.literal_eval(arg) for arg in node.args]
            kwargs = {part.arg or "": ast.literal_eval(part.value) for part in node.keywords}
            value = make(*args, **kwargs)
        except (ValueError, TypeError, ArithmeticError, RecursionError, MemoryError) as problem:
            why = f"{ast.unparse(node)[:80]!r} is no value: {problem or type(problem).__name__}"
            raise _invalid(self._text, why, _find_place(self._text, node)) from None
        return lambda _call: value

    def _refuse(self, node: ast.expr) -> InvalidFilter:
        why = f"{ast.unparse(node)[:80]!r} is not part of the filter language"
        if isinstance(node, ast.Name):
            why = f"there is no name {node.id!r}; there are {', '.join(self._names)}"
        return _invalid(self._text, why, _find_place(self._text, node))


def _get_by_name(arguments: Any, key: Any, default: Callable[[], Any]) -> Any:
    values = arguments.parts if isinstance(arguments, Arguments) else arguments
    key = _resolve(key)
    if isinstance(values, Mapping) and isinstance(key, str):
        return values[key] if key in values else default()
    return Unknown(why=key.why) if isinstance(key, Unknown) else NOTHING


def _negate(truth: bool | Unknown) -> bool | Unknown:
    return truth if isinstance(truth, Unknown) else not truth


def _build(build: Callable[[], Any]) -> Any:
    try:
        return build()
    except _Undecided as reason:
        return Unknown(why=str(reason))
    except TypeError:  # not hashable
        return NOTHING


def _is_plain(value: Any) -> bool:
    if isinstance(value, int):
        return abs(value) <= _MAX_NUMBER
    return value is None or isinstance(value, (float, str, bytes))
