"""Reduces functions and classes for pickling, and rebuilds them in another process.

dill writes a class that one of its own methods names as a reference to `__main__`, which another
process does not have. Here a definition is made empty first and filled afterwards, so that whatever
it refers to may refer back to it.

The names of the functions that rebuild, and the path of this module, are part of the stored format.
"""

from __future__ import annotations

import builtins
import dataclasses
import enum
import types
from typing import Any

_EMPTY = "holdfast: an empty cell"
_NOT_KEPT = ("__dict__", "__weakref__", "_abc_impl", "__slots__", "__orig_bases__")
_DESCRIPTORS = (types.GetSetDescriptorType, types.MemberDescriptorType)


class Reductions:
    """The reductions in one pickle. Functions of one module share their globals in it."""

    def __init__(self) -> None:
        self._globals: dict[int, dict[str, Any]] = {}

    def reduce(self, thing: Any) -> Any:
        """What `__reduce__` would return for it."""
        if type(thing) is types.FunctionType:
            return self._reduce_function(thing)
        if isinstance(thing, enum.EnumMeta):
            return _reduce_enum(thing)
        return _reduce_class(thing)

    def _reduce_function(self, function: types.FunctionType) -> Any:
        known = function.__globals__
        shared = self._globals.setdefault(
            id(known), {"__name__": known.get("__name__"), "__builtins__": _Builtins()}
        )
        state = {
            "globals": {
                name: known[name] for name in _global_names(function.__code__) if name in known
            },
            "cells": [_cell_contents(cell) for cell in function.__closure__ or ()],
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


def reduce_cell(cell: Any) -> Any:
    """A cell is pickled empty; the functions that share it fill it."""
    return types.CellType, ()


def sentinel_name(thing: Any) -> str | None:
    """The name of one of the values that dataclasses compare by identity."""
    for name, value in vars(dataclasses).items():
        if value is thing:
            return name
    return None


def _cell_contents(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return _EMPTY


def _global_names(code: types.CodeType) -> list[str]:
    """The global names that a function, and those inside it, may use."""
    names = dict.fromkeys(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names.update(dict.fromkeys(_global_names(constant)))
    return list(names)


def _reduce_class(cls: type) -> Any:
    first = {
        name: cls.__dict__[name]
        for name in ("__module__", "__qualname__", "__slots__", "__orig_bases__")
        if name in cls.__dict__
    }
    first["__qualname__"] = cls.__qualname__
    args = (type(cls), cls.__name__, cls.__bases__, first)
    return make_class, args, _list_attributes(cls), None, None, fill_class


def _list_attributes(cls: type) -> dict[str, Any]:
    return {
        name: value
        for name, value in vars(cls).items()
        if name not in _NOT_KEPT and not isinstance(value, _DESCRIPTORS)
    }


def _reduce_enum(cls: Any) -> Any:
    members = {name: member.value for name, member in cls.__members__.items()}
    own = {
        name: value
        for name, value in _list_attributes(cls).items()
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
    for cell, contents in zip(function.__closure__ or (), state["cells"], strict=True):
        if type(contents) is not str or contents != _EMPTY:
            cell.cell_contents = contents
    function.__defaults__ = state["defaults"]
    function.__kwdefaults__ = state["kwdefaults"]
    function.__dict__.update(state["dict"])
    function.__doc__ = state["doc"]
    function.__annotations__ = state["annotations"]
    function.__qualname__ = state["qualname"]
    function.__module__ = state["module"]


def make_class(metaclass: Any, name: str, bases: tuple[type, ...], first: dict[str, Any]) -> type:
    cls: type = types.new_class(
        name, bases, {"metaclass": metaclass}, lambda space: space.update(first)
    )
    return cls


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
    cls: type = metaclass(name, bases, space)
    return cls


def fill_class(cls: type, state: dict[str, Any]) -> None:
    for name, value in state.items():
        type.__setattr__(cls, name, value)
