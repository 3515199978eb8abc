"""Values in reports: their text and shape, and what is not worth a line."""

from __future__ import annotations

import base64
import binascii
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from holdfast.core.secret_values import hide_value
from holdfast.wire.plain_text import clean, clean_line, cut, cut_value, show_count, show_size

_MAX_NAME = 60
_FUNCTIONS = frozenset({"function", "builtin_function_or_method", "method"})
_CLASSES = frozenset({"type", "ABCMeta", "EnumMeta", "EnumType"})
_TEXTS = frozenset({"str", "bytes", "bytearray", "memoryview"})
_ITEM = r"(?:-?\d+|-?\d+\.\d+(?:e[+-]?\d+)?|'[^']*')"
_ITEMS = re.compile(rf"[\w.]*\(?[\[({{]({_ITEM}), (?:{_ITEM}, )*")

Variable = Mapping[str, Any]
"""A value as the probe renders it."""


def show_name(variable: Variable) -> str:
    """The name of a variable, on one line and not too long."""
    return cut(clean_line(str(variable.get("name", ""))), _MAX_NAME)


def show_value(variable: Variable) -> str:
    """A value as text: safe to show, and as long as the probe has rendered it."""
    text = str(variable.get("value", variable.get("result", variable.get("error", ""))))
    if variable.get("encoding") == "base64":
        return _show_bytes(variable, text)
    if variable.get("truncated") and variable.get("type") == "str":
        return f"{clean(text)} ({show_shape(variable)})"
    return clean(text)


def _show_bytes(variable: Variable, text: str) -> str:
    try:
        data = base64.b64decode(text)
    except (binascii.Error, ValueError):
        return clean(text)
    kind = variable.get("type", "bytes")
    shown = repr(data)
    if variable.get("truncated"):
        shown = f"{shown[:-1]}...{shown[-1]} ({show_shape(variable)})"
    return shown if kind == "bytes" else f"{kind}({shown})"


def shorten_all(
    texts: Mapping[str, str], variables: Iterable[Variable], limit: int, *, show_secrets: bool
) -> tuple[dict[str, str], list[str]]:
    """Values within so many bytes each, and which are shortened.

    Secrets are hidden before, lest half of one remains."""
    by_text = {show_value(variable): variable for variable in variables}
    shown, long = {}, []
    for name, text in texts.items():
        safe = text if show_secrets else hide_value(name, text)
        shown[name] = cut_value(safe, show_shape(by_text[text]), limit)
        if shown[name] != safe:
            long.append(name)
    return shown, long


def show_shape(variable: Variable) -> str:
    """A value in a few words: `list of 10000 int`, `str, 12 MB`, `Cart object`."""
    kind = cut(clean_line(str(variable.get("type", "object"))), _MAX_NAME)
    shape, length = variable.get("shape"), variable.get("length")
    if shape is not None:
        dtype = f" {clean_line(str(variable['dtype']))[:20]}" if "dtype" in variable else ""
        return f"{kind} ({', '.join(map(str, shape))}){dtype}"
    if length is None:
        return f"{kind} object"
    if kind in _TEXTS:
        unit = "B" if length < 10_000 else ""
        return f"{kind}, {show_size(length)} {unit}".rstrip()
    return f"{kind} of {length}{_name_items(variable)}"


def _name_items(variable: Variable) -> str:
    """What a collection holds, if its first items are all alike."""
    found = _ITEMS.match(str(variable.get("value", ""))[:200])
    if found is None:
        return ""
    items = re.findall(_ITEM, found.group())
    kinds = {"str" if item[0] == "'" else "float" if "." in item else "int" for item in items}
    return f" {kinds.pop()}" if len(kinds) == 1 else ""


def show_all(variables: Iterable[Variable]) -> dict[str, str]:
    """Variables by name. Two that are shown alike stay two."""
    shown: dict[str, str] = {}
    for variable in variables:
        name = show_name(variable)
        while name in shown:
            name += "'"
        shown[name] = show_value(variable)
    return shown


def list_shapes(variables: Iterable[Variable]) -> dict[str, str]:
    """The shapes of long values, by their text."""
    shapes = {}
    for variable in variables:
        value, shape = show_value(variable), show_shape(variable)
        if len(shape) < len(value):
            shapes[value] = shape
    return shapes


def name_noise(variable: Variable) -> str | None:
    """What a variable of a module is, if it is not worth a line: it is defined or imported."""
    kind, name = str(variable.get("type")), str(variable.get("name"))
    if kind == "module":
        return "module"
    if kind in _FUNCTIONS:
        return "function"
    if kind in _CLASSES or str(variable.get("value", "")).startswith("<class '"):
        return "class"
    return "special name" if name.startswith("__") and name.endswith("__") else None


def show_noise(counts: Counter[str]) -> str:
    """`5 functions, 2 modules`."""
    return ", ".join(show_count(count, noun) for noun, count in counts.items())
