"""Previews: a value as people and agents see it, and itself when it is small and plain.

The same code describes a program's variables: bounded in time and length, whatever the value's own
repr does.
"""

from __future__ import annotations

import math
from typing import Any

from holdfast.client.proxy_base import target_of, without_interception
from holdfast.model.call import Preview
from holdfast.probe import introspection, previews

_MAX_TEXT = 1000  # characters of a string that goes whole
_MAX_ITEMS = 100  # of a plain list or dict that goes whole
_INT_END = 1 << 63


def build_preview(value: Any, marker: str | None = None, max_chars: int | None = None) -> Preview:
    """`text`, `type`, and where they apply `length`, `json`, and the `marker` of a snapshot."""
    value = target_of(value)
    cls = type(value)
    if value is None or cls is bool or (cls is int and -_INT_END <= value < _INT_END):
        preview = {"text": repr(value), "type": cls.__name__, "json": value}
    else:
        with without_interception():
            preview = _describe(value, previews.limit_characters(max_chars))
    if marker is not None:
        preview["marker"] = marker
        preview.pop("json", None)
    return preview


def preview_text(value: Any) -> str:
    return str(build_preview(value)["text"])


def _describe(value: Any, limits: previews.Limits) -> Preview:
    try:
        text = previews.Preview(limits, evaluates=False).text(value)
        length = introspection.length(value)
    except Exception as problem:  # the value's own code may raise anything; the reader gets a text
        text, length = f"<cannot be shown: {type(problem).__name__}>", None
    preview: Preview = {"text": text, "type": introspection.type_name(type(value))}
    if length is not None:
        preview["length"] = length
    try:
        preview["json"] = _copy_plain(value, [_MAX_ITEMS])
    except (_NotPlain, RuntimeError):  # another thread may change it; it goes without
        pass
    return preview


class _NotPlain(Exception):
    """JSON cannot hold the value, or not exactly."""


def _copy_plain(value: Any, room: list[int]) -> Any:
    """The value, if JSON can hold exactly this. `room` is how many more parts may come.

    A list or dict is copied, because another thread may change it before it is encoded.
    """
    room[0] -= 1
    if room[0] < 0:
        raise _NotPlain
    cls = type(value)
    if value is None or cls is bool:
        return value
    if cls is int:
        is_plain = -_INT_END <= value < _INT_END
    elif cls is float:
        is_plain = math.isfinite(value)
    elif cls is str:
        is_plain = len(value) <= _MAX_TEXT and _is_encodable(value)
    elif cls is list and len(value) <= _MAX_ITEMS:
        return [_copy_plain(item, room) for item in value]
    elif cls is dict and len(value) <= _MAX_ITEMS:
        return {_copy_key(key, room): _copy_plain(item, room) for key, item in value.items()}
    else:
        is_plain = False
    if not is_plain:
        raise _NotPlain
    return value


def _copy_key(key: Any, room: list[int]) -> Any:
    if type(key) is not str:
        raise _NotPlain
    return _copy_plain(key, room)


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def clean(text: str) -> str:
    """The text with lone surrogates escaped, so that it is valid in JSON."""
    return introspection.escape_surrogates(text)
