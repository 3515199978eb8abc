"""The text of a stored value, if it is exactly a Python literal: to be changed and sent back.

The pickle is looked at and never loaded. Anything but plain numbers, text, bytes, lists, tuples,
dicts and sets has no such text: a named tuple is no tuple, and would come back as another value.
"""

from __future__ import annotations

from typing import Any

from holdfast.model.value_text import NotAValue, parse_text
from holdfast.wire.pickle_view import Node, View
from holdfast.wire.pickle_viewer import view_pickle

MAX_BYTES = 64 * 1024
MAX_TEXT = 16 * 1024
LITERAL_TYPES = frozenset(
    ("NoneType", "bool", "int", "float", "str", "bytes", "list", "tuple", "dict", "set")
)
"""The names of types whose values may have such a text."""
_MAX_STEPS = 20_000
_MAX_DEPTH = 50
_SCALARS = (type(None), bool, int, float, str, bytes)


class _NotPlain(Exception):
    """Something in the value is no literal."""


def format_literal(data: bytes) -> str | None:
    """The whole value as a literal; None if it is none, or is too long."""
    if len(data) > MAX_BYTES:
        return None
    viewed = view_pickle(data, _MAX_STEPS)
    try:
        value = _Reader().read(viewed.view) if viewed.is_whole else _refuse()
        text = repr(value)
        is_same = len(text) <= MAX_TEXT and parse_text(text) == value
    except (_NotPlain, NotAValue, TypeError, ValueError, RecursionError):
        return None
    return text if is_same else None


def _refuse() -> Any:
    raise _NotPlain


class _Reader:
    """Builds a plain value. One that contains another twice is as long as if it had two of them,
    so that parts are counted as often as they occur."""

    def __init__(self) -> None:
        self._left = MAX_TEXT  # every part has at least one character

    def read(self, view: View, depth: int = _MAX_DEPTH) -> Any:
        self._left -= 1
        if depth == 0 or self._left < 0:
            raise _NotPlain
        if not isinstance(view, Node):
            return view if type(view) in _SCALARS else _refuse()
        match view.kind:
            case "list":
                return [self.read(item, depth - 1) for item in view.items]
            case "tuple":
                return tuple(self.read(item, depth - 1) for item in view.items)
            case "set":
                return {self.read(item, depth - 1) for item in view.items}
            case "dict":
                return {
                    self.read(key, depth - 1): self.read(value, depth - 1)
                    for key, value in view.pairs
                }
        raise _NotPlain
