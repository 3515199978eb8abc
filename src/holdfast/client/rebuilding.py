"""Functions and classes taken apart, and put together in another process.

dill's own way writes a class that one of its methods names as a reference to `__main__`, which
another process has not. Here a thing is made empty first and filled afterwards, so that whatever it
refers to may refer back to it.
"""

from __future__ import annotations

import builtins
import dataclasses
import enum
import types
from collections.abc import Callable
from typing import Any

_EMPTY = "holdfast: an empty cell"
_NOT_KEPT = ("__dict__", "__weakref__", "_abc_impl", "__slots__", "__orig_bases__")
_DESCRIPTORS = (types.GetSetDescriptorType, types.MemberDescriptorType)


class Parts:
    """Takes things apart for one pickle. Functions of one module share their globals in it."""

    def __init__(self) -> None:
        self._globals: dict[int, dict[str, Any]] = {}

    def of(self, thing: Any) -> Any:
        """How to make it, with what, and how to fill it: a reduction, as pickle knows it."""
        if type(thing) is types.FunctionType:
            return self._function(thing)
        if isinstance(thing, enum.EnumMeta):
            return _enum(thing)
        return _class(thing)

    def _function(self, function: types.FunctionType) -> Any:
        known = function.__globals__
        shared = self._globals.setdefault(
            id(known), {"__name__": known.get("__name__"), "__builtins__": _Builtins()}
        )
        state = {
            "globals": {name: known[name] for name in _names(function.__code__) if name in known},
            "cells": [_contents(cell) for cell in function.__closure__ or ()],
            "defaults": function.__defaults__,
            "kwdefaults": function.__kwdefaults__,
            "dict": dict(function.__dict__),
            "doc": function.__doc__,
            "annotations": dict(function.__annotations__),
            "qualname": function.__qualname__,
            "module": function.__module__,
        }
        args = (function.__code__, shared, function.__name__, function.__closure__)
        return make_function, args, state, None, None, fill_function


class _Builtins:
    """The builtins of whoever restores it."""

    def __reduce__(self) -> Any:
        return vars, (builtins,)


def cell_parts(cell: Any) -> Any:
    """A cell travels empty; the functions that share it fill it."""
    return types.CellType, ()


def sentinel(thing: Any) -> str | None:
    """The name of one of the marks that dataclasses compare by identity."""
    for name, value in vars(dataclasses).items():
        if value is thing:
            return name
    return None


def _contents(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return _EMPTY


def _names(code: types.CodeType) -> list[str]:
    """The global names that a function, and those inside it, may use."""
    found = dict.fromkeys(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found.update(dict.fromkeys(_names(constant)))
    return list(found)


def _class(cls: type) -> Any:
    first = {
        name: cls.__dict__[name]
        for name in ("__module__", "__qualname__", "__slots__", "__orig_bases__")
        if name in cls.__dict__
    }
    first["__qualname__"] = cls.__qualname__
    args = (type(cls), cls.__name__, cls.__bases__, first)
    return make_class, args, _attributes(cls), None, None, fill_class


def _attributes(cls: type) -> dict[str, Any]:
    return {
        name: value
        for name, value in vars(cls).items()
        if name not in _NOT_KEPT and not isinstance(value, _DESCRIPTORS)
    }


def _enum(cls: Any) -> Any:
    members = {name: member.value for name, member in cls.__members__.items()}
    own = {
        name: value
        for name, value in _attributes(cls).items()
        if name not in members and not name.startswith("_")
    }
    first = {"__module__": cls.__module__, "__qualname__": cls.__qualname__}
    args = (type(cls), cls.__name__, cls.__bases__, first, members)
    return make_enum, args, own, None, None, fill_class


# -- in the process that restores ----------------------------------------------------------------


def make_function(
    code: types.CodeType, names: dict[str, Any], name: str, closure: tuple[Any, ...] | None
) -> types.FunctionType:
    return types.FunctionType(code, names, name, None, closure)


def fill_function(function: types.FunctionType, state: dict[str, Any]) -> None:
    function.__globals__.update(state["globals"])
    for cell, held in zip(function.__closure__ or (), state["cells"], strict=True):
        if type(held) is not str or held != _EMPTY:
            cell.cell_contents = held
    function.__defaults__ = state["defaults"]
    function.__kwdefaults__ = state["kwdefaults"]
    function.__dict__.update(state["dict"])
    function.__doc__ = state["doc"]
    function.__annotations__ = state["annotations"]
    function.__qualname__ = state["qualname"]
    function.__module__ = state["module"]


def make_class(metaclass: Any, name: str, bases: tuple[type, ...], first: dict[str, Any]) -> type:
    made: type = types.new_class(name, bases, {"metaclass": metaclass}, _putting(first))
    return made


def make_enum(
    metaclass: Any,
    name: str,
    bases: tuple[type, ...],
    first: dict[str, Any],
    members: dict[str, Any],
) -> type:
    space = metaclass.__prepare__(name, bases)
    for key, value in {**first, **members}.items():
        space[key] = value
    made: type = metaclass(name, bases, space)
    return made


def fill_class(cls: type, state: dict[str, Any]) -> None:
    for name, value in state.items():
        type.__setattr__(cls, name, value)


def _putting(first: dict[str, Any]) -> Callable[[dict[str, Any]], None]:
    return lambda space: space.update(first)
