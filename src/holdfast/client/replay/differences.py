"""Where two values differ, by path; and a key by which two outcomes of a call are the same."""

from __future__ import annotations

import types
from typing import Any

from holdfast.client import equality, value_preview

MAX = 20
_SCALARS = (type(None), bool, int, str, bytes, complex)
_NAMED = (types.FunctionType, types.BuiltinFunctionType, types.ModuleType, type)
_ABSENT = "(absent)"


class Difference:
    def __init__(self, path: str, expected: str, actual: str) -> None:
        self.path = path
        self.expected = expected
        self.actual = actual


def between(expected: Any, actual: Any) -> list[Difference]:
    """At most `MAX` of them."""
    walk = _Walk()
    walk.compare("", expected, actual)
    return walk.found


def text_of(value: Any) -> str:
    return str(value_preview.of(value)["text"])


class _Walk:
    def __init__(self) -> None:
        self.found: list[Difference] = []
        self._open: set[tuple[int, int]] = set()

    def compare(self, path: str, expected: Any, actual: Any) -> None:
        pair = (id(expected), id(actual))
        if expected is actual or pair in self._open or len(self.found) >= MAX:
            return
        self._open.add(pair)
        try:
            self._compare(path, expected, actual)
        finally:
            self._open.discard(pair)

    def _compare(self, path: str, expected: Any, actual: Any) -> None:
        cls = type(expected)
        if cls is not type(actual):
            self._differs(path, expected, actual, typed=True)
        elif cls in _SCALARS:
            if expected != actual:
                self._differs(path, expected, actual)
        elif cls is float:
            if expected != actual and (expected == expected or actual == actual):
                self._differs(path, expected, actual)
        elif cls is list or cls is tuple:
            self._sequence(path, expected, actual)
        elif cls is dict:
            self._mapping(path, expected, actual, "[{!r}]")
        elif isinstance(expected, _NAMED):
            if equality.key(expected) != equality.key(actual):
                self._differs(path, expected, actual)
        else:
            self._object(path, expected, actual)

    def _differs(self, path: str, expected: Any, actual: Any, typed: bool = False) -> None:
        texts = [text_of(expected), text_of(actual)]
        if typed and texts[0] == texts[1]:
            pairs = zip(texts, (expected, actual), strict=True)
            texts = [f"{text} ({type(value).__name__})" for text, value in pairs]
        self.found.append(Difference(path, *texts))

    def _sequence(self, path: str, expected: Any, actual: Any) -> None:
        for index, (left, right) in enumerate(zip(expected, actual, strict=False)):
            self.compare(f"{path}[{index}]", left, right)
        for index in range(len(actual), len(expected)):
            self._add(Difference(f"{path}[{index}]", text_of(expected[index]), _ABSENT))
        for index in range(len(expected), len(actual)):
            self._add(Difference(f"{path}[{index}]", _ABSENT, text_of(actual[index])))

    def _mapping(self, path: str, expected: Any, actual: Any, form: str) -> None:
        for name in expected:
            place = path + form.format(name)
            if name in actual:
                self.compare(place, expected[name], actual[name])
            else:
                self._add(Difference(place, text_of(expected[name]), _ABSENT))
        for name in actual:
            if name not in expected:
                place = path + form.format(name)
                self._add(Difference(place, _ABSENT, text_of(actual[name])))

    def _add(self, one: Difference) -> None:
        if len(self.found) < MAX:
            self.found.append(one)

    def _object(self, path: str, expected: Any, actual: Any) -> None:
        """By its own == if it has one; what that tells apart is looked for in the state."""
        if _says_equal(expected, actual):
            return
        key = equality.key(expected)
        if key is not None and key == equality.key(actual):
            return
        before = len(self.found)
        left, right = _state(expected), _state(actual)
        if left is None or right is None:
            if text_of(expected) != text_of(actual) or not isinstance(expected, BaseException):
                self._differs(path, expected, actual)
            return
        self._mapping(path, left, right, ".{}")
        if len(self.found) == before and _has_eq(expected):
            self._differs(path, expected, actual)


def _says_equal(expected: Any, actual: Any) -> bool:
    if not _has_eq(expected):
        return False
    try:
        return bool(expected == actual)
    except Exception:  # an array's == is no answer
        return False


def _has_eq(value: Any) -> bool:
    cls: Any = type(value)
    return cls.__eq__ is not object.__eq__


def _state(value: Any) -> dict[str, Any] | None:
    """The attributes; whatever pickle would write besides goes under names of its own."""
    if isinstance(value, BaseException):
        return {"args": value.args, **vars(value)}
    try:
        parts = value.__reduce_ex__(4)
    except Exception:
        return None
    if isinstance(parts, str):
        return {"name": parts}
    _make, args, state, items, entries = (*parts, None, None, None)[:5]
    found: dict[str, Any] = {}
    if isinstance(state, tuple) and len(state) == 2:  # what __slots__ give
        for part in state:
            if isinstance(part, dict):
                found.update({str(name): each for name, each in part.items()})
    elif isinstance(state, dict):
        found.update({str(name): each for name, each in state.items()})
    elif state is not None:
        found["state"] = state
    if len(args) > 1 or (args and not isinstance(args[0], type)):
        found["(made of)"] = args[1:] if isinstance(args[0], type) else args
    if items is not None:
        found["(items)"] = list(items)
    if entries is not None:
        found["(entries)"] = dict(entries)
    return found
