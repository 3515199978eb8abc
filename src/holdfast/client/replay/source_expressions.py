"""Values as Python source, for tests that people read.

An expression is a small tree of lists and strings, so that the replaying process can send it to the
command, which alone knows under which name everything is imported:

- a string is source as it is;
- `["name", module, qualname]` is something to import;
- `["group", head, open, [items], close]` is a display or a call;
- `["pair", left, between, right]` is an entry of a dict, a keyword argument, an operation;
- `["chunks", [strings]]` is one long string in pieces.
"""

from __future__ import annotations

import base64
import dataclasses
import enum
import math
import types
from collections.abc import Callable
from typing import Any

from holdfast.client.definitions import is_importable
from holdfast.client.replay import generated_test_helpers
from holdfast.client.replay.differences import find_differences
from holdfast.client.replay.replay_messages import Expression
from holdfast.client.replay.value_restorer import Restorer

NameOf = Callable[[str, str], str]
WIDTH = 88
_MAX_SOURCE = 1000
_CHUNK = 72
# Types whose reprs are calls of the class with plain arguments.
_CALL_REPRS = {
    "decimal": ("Decimal",),
    "fractions": ("Fraction",),
    "uuid": ("UUID",),
    "datetime": ("date", "datetime", "time", "timedelta"),
    "pathlib": ("PosixPath", "PurePosixPath"),
}


class NotSource(Exception):
    """The value has no readable source."""


def build_expression(value: Any, restorer: Restorer, cid: str | None) -> Expression:
    """Readable source that evaluates to the value, else a call of `restored` with its bytes."""
    try:
        node = _ExpressionBuilder().build(value)
        if len(format_line(node, _bare_name)) <= _MAX_SOURCE and _evaluates_to(
            node, value, restorer
        ):
            return node
    except (NotSource, RecursionError):
        pass
    if cid is None:
        raise NotSource("it has neither a literal nor stored bytes")
    return _build_restored(restorer, cid)


def _build_restored(restorer: Restorer, cid: str) -> Expression:
    """`restored("…")`, with what those bytes refer to."""
    text = base64.b64encode(restorer.data(cid)).decode()
    pieces = [f'"{text[at : at + _CHUNK]}"' for at in range(0, len(text), _CHUNK)]
    items: list[Expression] = [["chunks", pieces]]
    known = []
    for other in restorer.references(cid):
        thing = restorer.definition(other)
        is_recorded = restorer.is_as_recorded(thing)
        node = _build_restored(restorer, other) if is_recorded else _build_name(thing)
        known.append(["pair", f'"{other}"', ": ", node])
    if known:
        items.append(["group", "", "{", known, "}"])
    return ["group", "restored", "(", items, ")"]


def _build_name(thing: Any) -> Expression:
    if not is_importable(thing):
        raise NotSource(f"{thing!r} cannot be imported")
    return ["name", thing.__module__, thing.__qualname__]


class _ExpressionBuilder:
    def __init__(self) -> None:
        self._used: set[int] = set()

    def build(self, value: Any) -> Expression:
        cls = type(value)
        if value is None or cls in (bool, int, complex):
            return repr(value)
        if cls is str or cls is bytes:
            return quote(value)
        if cls is float:
            return repr(value) if math.isfinite(value) else f'float("{value}")'
        if isinstance(value, type) or cls in (types.FunctionType, types.BuiltinFunctionType):
            return _build_name(value)
        if isinstance(value, enum.Enum):
            return ["name", cls.__module__, f"{cls.__qualname__}.{value.name}"]
        if cls is not tuple and id(value) in self._used:
            raise NotSource("a part that is used twice")
        self._used.add(id(value))
        return self._build_container(value, cls)

    def _build_container(self, value: Any, cls: type) -> Expression:
        if cls is list:
            return ["group", "", "[", [self.build(item) for item in value], "]"]
        if cls is tuple:
            close = ",)" if len(value) == 1 else ")"
            return ["group", "", "(", [self.build(item) for item in value], close]
        if cls is dict:
            entries = [["pair", self.build(k), ": ", self.build(v)] for k, v in value.items()]
            return ["group", "", "{", entries, "}"]
        if cls is set or cls is frozenset:
            return self._build_set(value, cls)
        return self._build_object(value, cls)

    def _build_set(self, value: Any, cls: type) -> Expression:
        items = sorted(
            (self.build(item) for item in value), key=lambda node: format_line(node, _bare_name)
        )
        inside = ["group", "", "{", items, "}"] if items else None
        if cls is set:
            return inside or "set()"
        return ["group", "frozenset", "(", [inside] if inside else [], ")"]

    def _build_object(self, value: Any, cls: type) -> Expression:
        if cls.__name__ in _CALL_REPRS.get(cls.__module__, ()):
            head, bracket, rest = repr(value).partition("(")
            if bracket and "." not in rest.replace("'", "").partition("=")[2]:
                rest = rest.replace("'", '"') if rest.count("'") == 2 else rest
                if cls.__name__ == "Decimal" and rest[1:-2].lstrip("-").isdecimal():
                    rest = rest.replace('"', "")
                return ["group", _build_name(cls), "(", [rest[:-1]] if rest != ")" else [], ")"]
            raise NotSource(head)
        if not is_importable(cls):
            raise NotSource(f"the class {cls.__qualname__} cannot be imported")
        if isinstance(value, tuple) and hasattr(cls, "_fields"):
            return self._build_call(cls, zip(cls._fields, value, strict=True))
        if dataclasses.is_dataclass(value):
            fields = [field.name for field in dataclasses.fields(value) if field.init]
            return self._build_call(cls, ((name, getattr(value, name)) for name in fields))
        return self._build_instance(value, cls)

    def _build_call(self, cls: type, arguments: Any) -> Expression:
        items = [["pair", name, "=", self.build(part)] for name, part in arguments]
        return ["group", _build_name(cls), "(", items, ")"]

    def _build_instance(self, value: Any, cls: Any) -> Expression:
        """An ordinary object: its attributes are all there is of it."""
        is_ordinary = (
            cls.__new__ is object.__new__
            and cls.__reduce_ex__ is object.__reduce_ex__
            and cls.__reduce__ is object.__reduce__
            and not hasattr(cls, "__setstate__")
            and getattr(cls, "__getstate__", None) is getattr(object, "__getstate__", None)
            and cls.__dictoffset__ != 0
            and not any(getattr(base, "__slots__", ()) for base in cls.__mro__)
        )
        names = vars(value) if is_ordinary else {}
        if not is_ordinary or not all(type(name) is str and name.isidentifier() for name in names):
            raise NotSource(f"a {cls.__qualname__} is more than its attributes")
        items = [["pair", name, "=", self.build(part)] for name, part in names.items()]
        return ["group", "built", "(", [_build_name(cls), *items], ")"]


def build_attributes(value: Any) -> Expression:
    """The dict that `vars(value)` has to equal."""
    return _ExpressionBuilder().build(vars(value))


def quote(text: str | bytes) -> str:
    """A string literal; with double quotes, as formatters want it, unless that costs escapes."""
    written = repr(text)
    start, _, body = written.partition("'")
    if start not in ("", "b") or written.count('"') > written.count("\\'"):
        return written
    body = body[:-1].replace("\\'", "'").replace('"', '\\"')
    return f'{start}"{body}"'


# -- evaluating -------------------------------------------------------------------------------


def _evaluates_to(node: Expression, value: Any, restorer: Restorer) -> bool:
    try:
        return not find_differences(value, evaluate(node, restorer))
    except Exception:  # evaluating runs the application's constructors
        return False


def evaluate(node: Expression, restorer: Restorer) -> Any:
    names: dict[str, Any] = {
        "built": generated_test_helpers.built,
        "restored": generated_test_helpers.restored,
    }

    def add_name(module: str, qualname: str) -> str:
        name = f"name_{len(names)}"
        names[name] = restorer.program.find(module, qualname)
        return name

    return eval(format_line(node, add_name), names)


# -- formatting ---------------------------------------------------------------------------


def _bare_name(module: str, qualname: str) -> str:
    return qualname


def format_line(node: Expression, name_of: NameOf) -> str:
    """The expression on one line. `name_of` gives what something imported is called."""
    if isinstance(node, str):
        return node
    match node[0]:
        case "name":
            return name_of(node[1], node[2])
        case "group":
            items = ", ".join(format_line(item, name_of) for item in node[3])
            return f"{format_line(node[1], name_of)}{node[2]}{items}{node[4]}"
        case "pair":
            return f"{format_line(node[1], name_of)}{node[2]}{format_line(node[3], name_of)}"
    return " ".join(node[1])


def format_lines(
    node: Expression, name_of: NameOf, before: str, after: str, indent: int = 4
) -> str:
    """`before`, the expression and `after`, on as many lines as it takes."""
    line = format_line(node, name_of)
    if indent + len(before) + len(line) + len(after) <= WIDTH or isinstance(node, str):
        return f"{before}{line}{after}"
    pad = "\n" + " " * indent
    inner = pad + " " * 4
    match node[0]:
        case "group" if node[3]:
            close = node[4].lstrip(",")
            head = f"{before}{format_line(node[1], name_of)}{node[2]}"
            items = ", ".join(format_line(item, name_of) for item in node[3])
            if indent + 4 + len(items) <= WIDTH and node[1]:  # only calls keep theirs on a line
                return f"{head}{inner}{items}{pad}{close}{after}"
            if len(node[3]) == 1 and node[3][0][0] == "chunks":
                return f"{head}{inner}{inner.join(node[3][0][1])}{pad}{close}{after}"
            lines = [format_lines(item, name_of, "", ",", indent + 4) for item in node[3]]
            return f"{head}{inner}{inner.join(lines)}{pad}{close}{after}"
        case "pair":
            head = f"{before}{format_line(node[1], name_of)}{node[2]}"
            return format_lines(node[3], name_of, head, after, indent)
        case "chunks":
            return f"{before}{pad.join(node[1])}{after}"
    return f"{before}{line}{after}"
