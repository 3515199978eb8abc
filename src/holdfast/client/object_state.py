"""Compares an object with its former state by its fields, which is cheaper than pickling it."""

from __future__ import annotations

import copyreg
import operator
import types
from typing import Any

from holdfast.client import definitions
from holdfast.client.snapshots import Snapshot

ATOMS = frozenset((int, str, float, bool, bytes, type(None)))
_MAX_FIELDS = 16
_STATE_METHODS = (
    *("__reduce__", "__reduce_ex__", "__getstate__", "__getnewargs__", "__getnewargs_ex__"),
    *("__getattribute__", "__slots__"),
)

_is = operator.is_


class States:
    """The states of ordinary objects with a few plain fields: type, names and values.

    They are compared by identity, which for immutable values proves that nothing changed.
    """

    def __init__(self) -> None:
        self._ordinary: dict[type, bool] = {}

    def read(self, target: Any) -> tuple[Any, ...] | None:
        """The state; None if the object is not an ordinary one."""
        cls = type(target)
        is_ordinary = self._ordinary.get(cls)
        if is_ordinary is None:
            is_ordinary = self._ordinary[cls] = _is_ordinary(cls)
        if not is_ordinary:
            return None
        fields = target.__dict__
        if len(fields) > _MAX_FIELDS:
            return None
        for value in fields.values():
            if type(value) not in ATOMS:
                return None
        return (cls, *fields, *fields.values())


def _is_ordinary(cls: type) -> bool:
    """Whether its `__dict__` is all that pickle and we know of an instance."""
    for base in cls.__mro__[:-1]:
        if not base.__flags__ & definitions.HEAP_TYPE or any(
            name in vars(base) for name in _STATE_METHODS
        ):
            return False
    return cls not in copyreg.dispatch_table and cls.__dictoffset__ != 0 and type(cls) is type


def fields_of(target: Any, snapshot: Snapshot | None) -> dict[str, Any] | None:
    """The fields of an ordinary object that has not changed; else None."""
    if snapshot is None or snapshot.state is None or snapshot.state[0] is not type(target):
        return None
    fields: dict[str, Any] = target.__dict__
    return fields if same_fields(fields, snapshot.state) else None


def same_fields(fields: dict[str, Any], state: tuple[Any, ...] | None) -> bool:
    if state is None or 2 * len(fields) + 1 != len(state):
        return False
    return not fields or all(map(_is, (*fields, *fields.values()), state[1:]))


def is_same(before: tuple[Any, ...] | None, after: tuple[Any, ...]) -> bool:
    return before is not None and len(before) == len(after) and all(map(_is, before, after))


def is_stable(function: types.FunctionType) -> bool:
    """Whether what is stored of a function stays the same: its name, or code without closure."""
    return not function.__closure__ or definitions.is_importable(function)
