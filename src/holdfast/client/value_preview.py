"""A value as people and agents see it: a text, its type, and itself when it is small and plain.

The text is made by the same code that shows a program's variables: bounded in time and length,
whatever the value's own repr does.
"""

from __future__ import annotations

import math
from typing import Any

from holdfast.client.proxy_base import target_of, without_interception
from holdfast.probe import introspection, previews

_LONGEST = 1000  # characters of a string that goes whole
_MAX = 100  # values in a plain list or dict that goes whole
_WIDEST = 1 << 63


def of(value: Any) -> dict[str, Any]:
    """`text`, `type`, and where they apply `length` and `json`."""
    value = target_of(value)
    cls = type(value)
    if value is None or cls is bool or (cls is int and -_WIDEST <= value < _WIDEST):
        return {"text": repr(value), "type": cls.__name__, "json": value}
    with without_interception():
        return _shown(value)


def _shown(value: Any) -> dict[str, Any]:
    try:
        text = previews.Preview().text(value)
        length = introspection.length(value)
    except Exception as problem:  # whatever the object is up to, the reader gets an answer
        text, length = f"<cannot be shown: {type(problem).__name__}>", None
    shown: dict[str, Any] = {"text": text, "type": introspection.type_name(type(value))}
    if length is not None:
        shown["length"] = length
    if _is_plain(value, [_MAX]):
        shown["json"] = value
    return shown


def _is_plain(value: Any, room: list[int]) -> bool:
    """Whether JSON says exactly this, and briefly."""
    room[0] -= 1
    if room[0] < 0:
        return False
    cls = type(value)
    if value is None or cls is bool:
        return True
    if cls is int:
        return bool(-_WIDEST <= value < _WIDEST)
    if cls is float:
        return math.isfinite(value)
    if cls is str:
        return len(value) <= _LONGEST and _encodes(value)
    if cls is list:
        return len(value) <= _MAX and all(_is_plain(each, room) for each in value)
    if cls is dict:
        return len(value) <= _MAX and all(
            type(key) is str and _is_plain(key, room) and _is_plain(each, room)
            for key, each in value.items()
        )
    return False


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def clean(text: str) -> str:
    """The same text, written so that it is valid in JSON."""
    return introspection.escape_surrogates(text)
