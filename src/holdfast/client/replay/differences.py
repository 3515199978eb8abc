"""Where two live values differ, by path."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.client import equality
from holdfast.client.value_preview import preview_text
from holdfast.wire import value_differ
from holdfast.wire.value_differ import Change, Part, ValueDiffer, Verdict

MAX_DIFFERENCES = 20
_SCALARS = (type(None), bool, int, str, bytes, complex)
_NAMED = (types.FunctionType, types.BuiltinFunctionType, types.ModuleType, type)
_ABSENT = "(absent)"


@dataclass(frozen=True)
class Difference:
    """A place at which two values differ, and both as text."""

    path: str
    expected: str
    actual: str


def find_differences(expected: Any, actual: Any) -> list[Difference]:
    """The first differences, at most `MAX_DIFFERENCES`."""
    differ = ValueDiffer(_LiveValues(), MAX_DIFFERENCES)
    differ.compare(expected, actual)
    return [_to_text(difference) for difference in differ.differences]


def _to_text(difference: value_differ.Difference) -> Difference:
    left, right = difference.left, difference.right
    if difference.change is Change.REMOVED:
        return Difference(difference.path, preview_text(left), _ABSENT)
    if difference.change is Change.ADDED:
        return Difference(difference.path, _ABSENT, preview_text(right))
    expected, actual = preview_text(left), preview_text(right)
    if expected == actual and type(left) is not type(right):
        expected += f" ({type(left).__name__})"
        actual += f" ({type(right).__name__})"
    return Difference(difference.path, expected, actual)


class _LiveValues:
    """Live objects, compared by their own == if they have one, and by their state."""

    def judge(self, left: Any, right: Any) -> Verdict:
        cls = type(left)
        if cls is not type(right):
            return Verdict.DIFFERENT
        if cls in _SCALARS:
            return Verdict.SAME if left == right else Verdict.DIFFERENT
        if cls is float:
            is_nan = left != left and right != right
            return Verdict.SAME if left == right or is_nan else Verdict.DIFFERENT
        if cls in (list, tuple, dict):
            return Verdict.COMPARE_PARTS
        if isinstance(left, _NAMED):
            is_same = equality.key(left) == equality.key(right)
            return Verdict.SAME if is_same else Verdict.DIFFERENT
        return self._judge_objects(left, right)

    def _judge_objects(self, left: Any, right: Any) -> Verdict:
        if _is_equal(left, right):
            return Verdict.SAME
        key = equality.key(left)
        if key is not None and key == equality.key(right):
            return Verdict.SAME
        if _read_state(left) is None or _read_state(right) is None:
            is_same = isinstance(left, BaseException) and preview_text(left) == preview_text(right)
            return Verdict.SAME if is_same else Verdict.DIFFERENT
        return Verdict.FIND_PART if _has_eq(left) else Verdict.COMPARE_PARTS

    def parts(self, value: Any) -> Mapping[Any, Part]:
        if type(value) in (list, tuple):
            return {at: (f"[{at}]", item) for at, item in enumerate(value)}
        if type(value) is dict:
            return {key: (f"[{key!r}]", part) for key, part in value.items()}
        return {name: (f".{name}", part) for name, part in (_read_state(value) or {}).items()}

    def members(self, value: Any) -> None:
        """Sets are compared by their own ==."""

    def looks_same(self, left: Any, right: Any) -> bool:
        return preview_text(left) == preview_text(right)


def _is_equal(left: Any, right: Any) -> bool:
    if not _has_eq(left):
        return False
    try:
        return bool(left == right)
    except Exception:  # the application's own ==; that of an array has no truth value
        return False


def _has_eq(value: Any) -> bool:
    cls: Any = type(value)
    return cls.__eq__ is not object.__eq__


def _read_state(value: Any) -> dict[str, Any] | None:
    """The attributes, and under names of their own what else pickle would write."""
    if isinstance(value, BaseException):
        return {"args": value.args, **vars(value)}
    try:
        parts = value.__reduce_ex__(4)
    except Exception:  # the application's own method may raise anything
        return None
    if isinstance(parts, str):
        return {"name": parts}
    _make, args, state, items, entries = (*parts, None, None, None)[:5]
    attributes: dict[str, Any] = {}
    if isinstance(state, tuple) and len(state) == 2:  # what __slots__ give
        for part in state:
            if isinstance(part, dict):
                attributes.update({str(name): value for name, value in part.items()})
    elif isinstance(state, dict):
        attributes.update({str(name): value for name, value in state.items()})
    elif state is not None:
        attributes["state"] = state
    if len(args) > 1 or (args and not isinstance(args[0], type)):
        attributes["(made of)"] = args[1:] if isinstance(args[0], type) else args
    if items is not None:
        attributes["(items)"] = list(items)
    if entries is not None:
        attributes["(entries)"] = dict(entries)
    return attributes
