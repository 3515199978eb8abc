"""What a pickle describes: plain values, and nodes for everything else; how both are rendered."""

from __future__ import annotations

import datetime
import reprlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

MAX_TEXT = 1_000
MAX_JSON_PARTS = 200
_MAX_DEPTH = 5
_MAX_JSON_DEPTH = 10
_MAX_DIGITS = 1_000
_MAX_NAME = 50

View = Any
"""A plain value, or a Node."""


@dataclass(eq=False)
class Node:
    """What the pickle would make here. `kind`: list, tuple, dict, set, frozenset, name, object,
    class, function, reference, cut."""

    kind: str
    name: str = ""
    items: list[View] = field(default_factory=list)
    pairs: list[tuple[View, View]] = field(default_factory=list)
    state: View = None
    is_new: bool = False
    """An object that its class's `__new__` would make, of `items`."""

    @property
    def length(self) -> int | None:
        if self.kind in ("list", "tuple", "set", "frozenset"):
            return len(self.items)
        return len(self.pairs) if self.kind == "dict" else None


def type_name(view: View) -> str:
    if not isinstance(view, Node):
        return type(view).__name__
    match view.kind:
        case "class":
            return "type"
        case "function":
            return "function"
        case "name":
            return "name"
        case "object":
            return view.name
    return view.kind


def render(view: View, limit: int = MAX_TEXT) -> str:
    """As a `repr` would show it, cut after `limit` characters."""
    text = ""
    for piece in _pieces(view, _MAX_DEPTH, set()):
        text += piece
        if len(text) > limit:
            return text[: limit - 1] + "…"
    return text


def _pieces(view: View, depth: int, above: set[int]) -> Iterator[str]:
    if not isinstance(view, Node):
        yield shorten(view)
    elif view.kind == "cut" or depth == 0 or id(view) in above:
        yield "…"
    else:
        yield from _node_pieces(view, depth - 1, above | {id(view)})


def _node_pieces(node: Node, depth: int, above: set[int]) -> Iterator[str]:
    kind, bare = node.kind, node.name.rpartition(".")[2]
    match kind:
        case "name":
            yield f"<{node.name}>"
        case "class":
            yield f"<class {node.name}>"
        case "function":
            yield f"<function {node.name}>"
        case "reference":
            yield f"<stored {node.name}>"
        case "object":
            yield from _object_pieces(node, bare, depth, above)
        case "dict":
            yield from _join("{", _pair_pieces(node.pairs, ": ", depth, above), "}")
        case _:
            begin, end = _BRACKETS[kind]
            if kind == "tuple" and len(node.items) == 1:
                end = ",)"
            if kind == "set" and not node.items:
                begin, end = "set(", ")"
            yield from _join(begin, (_pieces(item, depth, above) for item in node.items), end)


_BRACKETS = {
    "list": ("[", "]"),
    "tuple": ("(", ")"),
    "set": ("{", "}"),
    "frozenset": ("frozenset({", "})"),
}


def _object_pieces(node: Node, bare: str, depth: int, above: set[int]) -> Iterator[str]:
    date = _render_date(node)
    if date is not None:
        yield date
        return
    parts = [_pieces(item, depth, above) for item in node.items]
    parts += _pair_pieces(list_fields(node), "=", depth, above, bare_keys=True)
    yield from _join(f"{bare}(", iter(parts), ")")


def list_fields(node: Node) -> list[tuple[View, View]]:
    """The attributes that an object's state would set, and the items it would be given."""
    pairs = list(node.pairs)
    states = node.state.items if _is_kind(node.state, "tuple") else [node.state]
    for state in states:
        if _is_kind(state, "dict"):
            pairs += state.pairs
        elif state is not None:
            pairs.append(("state", state))
    return pairs


def _is_kind(view: View, kind: str) -> bool:
    return isinstance(view, Node) and view.kind == kind


def _pair_pieces(
    pairs: list[tuple[View, View]], sign: str, depth: int, above: set[int], bare_keys: bool = False
) -> list[Iterator[str]]:
    def piece(key: View, value: View) -> Iterator[str]:
        if bare_keys and isinstance(key, str):
            yield key[:_MAX_NAME]
        else:
            yield from _pieces(key, depth, above)
        yield sign
        yield from _pieces(value, depth, above)

    return [piece(key, value) for key, value in pairs]


def _join(begin: str, parts: Iterable[Iterator[str]], end: str) -> Iterator[str]:
    yield begin
    for at, part in enumerate(parts):
        if at:
            yield ", "
        yield from part
    yield end


def _render_date(node: Node) -> str | None:
    """The `repr` of a date or a time, whose state is in bytes that nobody can read."""
    if node.name not in ("datetime.datetime", "datetime.date") or not node.items:
        return None
    raw = node.items[0]
    try:
        if node.name == "datetime.date" and len(raw) == 4:
            return repr(datetime.date(raw[0] * 256 + raw[1], raw[2], raw[3]))
        year, month = raw[0] * 256 + raw[1], raw[2] & 0x7F
        micros = raw[7] << 16 | raw[8] << 8 | raw[9]
        day, hour, minute, second = raw[3:7]
        return repr(datetime.datetime(year, month, day, hour, minute, second, micros))
    except (TypeError, ValueError, IndexError):
        return None


def shorten(value: Any) -> str:
    if isinstance(value, int) and value.bit_length() > _MAX_DIGITS * 3:
        return f"<int of {value.bit_length()} bits>"
    if isinstance(value, (str, bytes, bytearray)) and len(value) > MAX_TEXT:
        return repr(value[: MAX_TEXT // 2])[:-1] + "…"
    if isinstance(value, (int, float, str, bytes, bytearray, type(None))):
        return repr(value)
    return reprlib.repr(value)


# -- as JSON -------------------------------------------------------------------------------------


def to_json(view: View) -> tuple[bool, Any]:
    """Whether it is small and plain JSON data, and that data."""
    budget = [MAX_JSON_PARTS]
    try:
        return True, _to_json(view, _MAX_JSON_DEPTH, budget)
    except ValueError:
        return False, None


def _to_json(view: View, depth: int, budget: list[int]) -> Any:
    budget[0] -= 1
    if budget[0] < 0 or depth < 0:
        raise ValueError("too much")
    if isinstance(view, Node):
        if view.kind == "list":
            return [_to_json(item, depth - 1, budget) for item in view.items]
        if view.kind == "dict" and all(isinstance(key, str) for key, _ in view.pairs):
            return {key: _to_json(value, depth - 1, budget) for key, value in view.pairs}
        raise ValueError("not plain")
    if isinstance(view, str) and len(view) <= MAX_TEXT:
        view.encode()  # a lone surrogate is no JSON
        return view
    if isinstance(view, float) and view - view != 0:
        raise ValueError("JSON knows no infinity")
    if isinstance(view, bool | float | None) or (isinstance(view, int) and abs(view) < 2**63):
        return view
    raise ValueError("not plain")
