"""Names the place in a value at which it could not be stored: `config.pool.plug`."""

from __future__ import annotations

import itertools
import types
from collections.abc import Sequence
from typing import Any

from holdfast.client.value_preview import clean
from holdfast.probe import introspection

_MAX_KEY = 40  # characters
_MAX_SEARCHED = 100_000  # parts of a container
_FUNCTION_PARTS = {"cells": "__closure__", "defaults": "__defaults__", "dict": "__dict__"}


def describe_path(name: str, objects: Sequence[Any]) -> str:
    """`name` and the way from the first of these objects to the last, each a part of the former.

    A pickler comes from an object to its state, and from that to an attribute.
    """
    path, owner = name, None
    for whole, part in itertools.pairwise(objects):
        kind = type(whole)
        if kind is dict:
            key = _find_key(whole, part)
            path += _name_attribute(owner, key) if owner is not None else f"[{_show(key)}]"
            owner = None
        elif kind in (list, tuple):
            if owner is None:
                path += f"[{_find_index(whole, part)}]"
        elif kind in (set, frozenset):
            path += f"[{_show(part)}]"
        else:
            attribute = _find_attribute(whole, part)
            owner = whole if attribute is None else None
            path += "" if attribute is None else f".{attribute}"
    return clean(path)


def _find_key(whole: dict[Any, Any], part: Any) -> Any:
    items = itertools.islice(list(whole.items()), _MAX_SEARCHED)
    return next((key for key, value in items if value is part), part)


def _find_index(whole: Sequence[Any], part: Any) -> Any:
    items = itertools.islice(enumerate(whole), _MAX_SEARCHED)
    return next((index for index, item in items if item is part), "?")


def _find_attribute(whole: Any, part: Any) -> str | None:
    for name, value in introspection.first_attributes(whole, 1000):
        if value is part and type(name) is str:
            return name
    return None


def _name_attribute(owner: Any, key: Any) -> str:
    if type(owner) is types.FunctionType and type(key) is str:
        return "" if key == "globals" else f".{_FUNCTION_PARTS.get(key, key)}"
    return f".{key}" if type(key) is str and key.isidentifier() else f"[{_show(key)}]"


def _show(key: Any) -> str:
    if type(key) in (str, int, bytes, bool, float):
        text = repr(key)
        return text if len(text) <= _MAX_KEY else f"{text[:_MAX_KEY]}…"
    return f"<{type(key).__name__}>"
