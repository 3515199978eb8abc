"""Values as Python source, for tests that people read.

An expression is a small tree of lists and strings, so that it can be sent from the child to the
command, which alone knows what every name is imported as:

- a string is source as it stands;
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
from holdfast.client.replay import differences, generated_test_helpers
from holdfast.client.replay.value_restorer import Restorer

Node = Any
Naming = Callable[[str, str], str]
WIDTH = 88
_LONGEST = 1000
_PIECE = 72
# Their reprs are calls of the class with plain arguments.
_TELLING = {
    "decimal": ("Decimal",),
    "fractions": ("Fraction",),
    "uuid": ("UUID",),
    "datetime": ("date", "datetime", "time", "timedelta"),
    "pathlib": ("PosixPath", "PurePosixPath"),
}


class NotSource(Exception):
    """It cannot be written readably."""


def of(value: Any, restorer: Restorer, cid: str | None) -> Node:
    """Readable source if there is any that means the same, else the stored bytes."""
    try:
        node = _Writer().node(value)
        if len(flat(node, _dotted)) <= _LONGEST and means(node, value, restorer):
            return node
    except (NotSource, RecursionError):
        pass
    if cid is None:
        raise NotSource("it has neither a literal nor stored bytes")
    return stored(restorer, cid)


def stored(restorer: Restorer, cid: str) -> Node:
    """`restored("…")`, with what those bytes refer to."""
    text = base64.b64encode(restorer.data(cid)).decode()
    pieces = [f'"{text[at : at + _PIECE]}"' for at in range(0, len(text), _PIECE)]
    items: list[Node] = [["chunks", pieces]]
    known = []
    for other in restorer.references(cid):
        thing = restorer.definition(other)
        node = stored(restorer, other) if restorer.is_as_recorded(thing) else _named(thing)
        known.append(["pair", f'"{other}"', ": ", node])
    if known:
        items.append(["group", "", "{", known, "}"])
    return ["group", "restored", "(", items, ")"]


def _named(thing: Any) -> Node:
    if not is_importable(thing):
        raise NotSource(f"{thing!r} cannot be imported")
    return ["name", thing.__module__, thing.__qualname__]


class _Writer:
    def __init__(self) -> None:
        self._met: set[int] = set()

    def node(self, value: Any) -> Node:
        cls = type(value)
        if value is None or cls in (bool, int, complex):
            return repr(value)
        if cls is str or cls is bytes:
            return quoted(value)
        if cls is float:
            return repr(value) if math.isfinite(value) else f'float("{value}")'
        if isinstance(value, type) or cls in (types.FunctionType, types.BuiltinFunctionType):
            return _named(value)
        if isinstance(value, enum.Enum):
            return ["name", cls.__module__, f"{cls.__qualname__}.{value.name}"]
        if cls is not tuple and id(value) in self._met:
            raise NotSource("a part that is used twice")
        self._met.add(id(value))
        return self._container(value, cls)

    def _container(self, value: Any, cls: type) -> Node:
        if cls is list:
            return ["group", "", "[", [self.node(each) for each in value], "]"]
        if cls is tuple:
            close = ",)" if len(value) == 1 else ")"
            return ["group", "", "(", [self.node(each) for each in value], close]
        if cls is dict:
            entries = [["pair", self.node(k), ": ", self.node(v)] for k, v in value.items()]
            return ["group", "", "{", entries, "}"]
        if cls is set or cls is frozenset:
            return self._set(value, cls)
        return self._object(value, cls)

    def _set(self, value: Any, cls: type) -> Node:
        items = sorted((self.node(each) for each in value), key=lambda node: flat(node, _dotted))
        inside = ["group", "", "{", items, "}"] if items else None
        if cls is set:
            return inside or "set()"
        return ["group", "frozenset", "(", [inside] if inside else [], ")"]

    def _object(self, value: Any, cls: type) -> Node:
        if cls.__name__ in _TELLING.get(cls.__module__, ()):
            head, bracket, rest = repr(value).partition("(")
            if bracket and "." not in rest.replace("'", "").partition("=")[2]:
                rest = rest.replace("'", '"') if rest.count("'") == 2 else rest
                if cls.__name__ == "Decimal" and rest[1:-2].lstrip("-").isdecimal():
                    rest = rest.replace('"', "")
                return ["group", _named(cls), "(", [rest[:-1]] if rest != ")" else [], ")"]
            raise NotSource(head)
        if not is_importable(cls):
            raise NotSource(f"the class {cls.__qualname__} cannot be imported")
        if isinstance(value, tuple) and hasattr(cls, "_fields"):
            return self._call(cls, zip(cls._fields, value, strict=True))
        if dataclasses.is_dataclass(value):
            fields = [field.name for field in dataclasses.fields(value) if field.init]
            return self._call(cls, ((name, getattr(value, name)) for name in fields))
        return self._built(value, cls)

    def _call(self, cls: type, arguments: Any) -> Node:
        items = [["pair", name, "=", self.node(each)] for name, each in arguments]
        return ["group", _named(cls), "(", items, ")"]

    def _built(self, value: Any, cls: Any) -> Node:
        """An ordinary object, which is nothing but its attributes."""
        plain = (
            cls.__new__ is object.__new__
            and cls.__reduce_ex__ is object.__reduce_ex__
            and cls.__reduce__ is object.__reduce__
            and not hasattr(cls, "__setstate__")
            and getattr(cls, "__getstate__", None) is getattr(object, "__getstate__", None)
            and cls.__dictoffset__ != 0
            and not any(getattr(base, "__slots__", ()) for base in cls.__mro__)
        )
        names = vars(value) if plain else {}
        if not plain or not all(type(name) is str and name.isidentifier() for name in names):
            raise NotSource(f"a {cls.__qualname__} is more than its attributes")
        items = [["pair", name, "=", self.node(each)] for name, each in names.items()]
        return ["group", "built", "(", [_named(cls), *items], ")"]


def attributes(value: Any) -> Node:
    """The dict that `vars(value)` has to equal."""
    return _Writer().node(vars(value))


def quoted(text: str | bytes) -> str:
    """With double quotes, as the formatters want them, unless that costs more escapes."""
    written = repr(text)
    start, _, body = written.partition("'")
    if start not in ("", "b") or written.count('"') > written.count("\\'"):
        return written
    body = body[:-1].replace("\\'", "'").replace('"', '\\"')
    return f'{start}"{body}"'


# -- what it means -------------------------------------------------------------------------------


def means(node: Node, value: Any, restorer: Restorer) -> bool:
    try:
        return not differences.between(value, evaluated(node, restorer))
    except Exception:  # a class that does not take its own fields, for one
        return False


def evaluated(node: Node, restorer: Restorer) -> Any:
    names: dict[str, Any] = {
        "built": generated_test_helpers.built,
        "restored": generated_test_helpers.restored,
    }

    def naming(module: str, qualname: str) -> str:
        name = f"name_{len(names)}"
        names[name] = restorer.program.find(module, qualname)
        return name

    return eval(flat(node, naming), names)


# -- how it is written ---------------------------------------------------------------------------


def _dotted(module: str, qualname: str) -> str:
    return qualname


def flat(node: Node, naming: Naming) -> str:
    """On one line."""
    if isinstance(node, str):
        return node
    match node[0]:
        case "name":
            return naming(node[1], node[2])
        case "group":
            items = ", ".join(flat(each, naming) for each in node[3])
            return f"{flat(node[1], naming)}{node[2]}{items}{node[4]}"
        case "pair":
            return f"{flat(node[1], naming)}{node[2]}{flat(node[3], naming)}"
    return " ".join(node[1])


def laid(node: Node, naming: Naming, before: str, after: str, indent: int = 4) -> str:
    """`before`, the expression and `after`, over as many lines as it takes."""
    line = flat(node, naming)
    if indent + len(before) + len(line) + len(after) <= WIDTH or isinstance(node, str):
        return f"{before}{line}{after}"
    pad = "\n" + " " * indent
    inner = pad + " " * 4
    match node[0]:
        case "group" if node[3]:
            close = node[4].lstrip(",")
            head = f"{before}{flat(node[1], naming)}{node[2]}"
            items = ", ".join(flat(each, naming) for each in node[3])
            if indent + 4 + len(items) <= WIDTH and node[1]:  # only calls keep theirs on a line
                return f"{head}{inner}{items}{pad}{close}{after}"
            if len(node[3]) == 1 and node[3][0][0] == "chunks":
                return f"{head}{inner}{inner.join(node[3][0][1])}{pad}{close}{after}"
            lines = [laid(each, naming, "", ",", indent + 4) for each in node[3]]
            return f"{head}{inner}{inner.join(lines)}{pad}{close}{after}"
        case "pair":
            left = f"{before}{flat(node[1], naming)}{node[2]}"
            return laid(node[3], naming, left, after, indent)
        case "chunks":
            return f"{before}{pad.join(node[1])}{after}"
    return f"{before}{line}{after}"
