"""Which invocation a function was made in, whose variables it shares.

A frame does not tell which function it runs. Functions that the program's code makes are noted with
the invocation that made them; a frame that begins is compared with them by address only.
"""

from __future__ import annotations

import ctypes
import functools
import gc
import sys
import types
import weakref
from typing import Any, Dict, Optional, Tuple

from .. import introspection
from .run_events import FrameInfo

_HEAD = 16  # bytes that every object begins with, unless Python was built without the lock
_POINTER = 8
_INNER_FRAME = _HEAD + _POINTER  # in a frame object: after its head and `f_back`
_FUNCTION = 0 if sys.version_info < (3, 12) else 2 * _POINTER  # in the inner frame, from 3.11 on
_HAS_INNER_FRAME = sys.version_info >= (3, 11)
_IS_KNOWN_LAYOUT = (
    sys.implementation.name == "cpython"
    and object.__basicsize__ == _HEAD
    and sys.version_info < (3, 14)
)


class ClosureHomes:
    """Functions with variables of others, and the frames that they were made in."""

    def __init__(self) -> None:
        self._functions: Dict[int, Tuple[Any, FrameInfo]] = {}  # by id
        self._cells: Dict[int, FrameInfo] = {}  # by the id of a cell, before 3.11

    def note(self, value: Any, frame: FrameInfo) -> None:
        """A value that a frame has made, or returns: is it a function made there?"""
        code = frame.plan.code
        function = _find_function(value, code)
        if function is None or id(function) in self._functions:
            return
        if _HAS_INNER_FRAME:
            forget = functools.partial(self._functions.pop, id(function))
            self._functions[id(function)] = weakref.ref(function, forget), frame
            return
        for name, cell in zip(function.__code__.co_freevars, function.__closure__):
            if name in code.co_cellvars:
                self._cells.setdefault(id(cell), frame)
        cells = [id(cell) for cell in function.__closure__]
        forget_cells = functools.partial(_forget, self._functions, self._cells, cells, id(function))
        self._functions[id(function)] = weakref.ref(function, forget_cells), frame

    def find(self, frame: Any) -> Optional[FrameInfo]:
        """The invocation that the running function was made in, if it was noted."""
        if not self._functions or not _IS_KNOWN_LAYOUT:
            return None
        if not _HAS_INNER_FRAME:
            for part in gc.get_referents(frame):
                if type(part) is types.CellType and id(part) in self._cells:
                    return self._cells[id(part)]
            return None
        inner = ctypes.c_void_p.from_address(id(frame) + _INNER_FRAME).value
        if not inner:
            return None
        address = (ctypes.c_void_p.from_address(inner + _FUNCTION).value or 0) & ~7
        known = self._functions.get(address)
        return None if known is None else known[1]


def _forget(
    functions: Dict[int, Any], cells: Dict[int, Any], own: Any, number: int, _ref: Any
) -> None:
    """A function is gone; its cells may be another's one day."""
    functions.pop(number, None)
    for cell in own:
        cells.pop(cell, None)


def _find_function(value: Any, code: Any, depth: int = 3) -> Optional[Any]:
    """The function itself, or the one that a decorator has wrapped, if this code made it."""
    kind = type(value)
    if kind is types.FunctionType:
        if value.__closure__ and any(const is value.__code__ for const in code.co_consts):
            return value
        wrapped = dict.get(value.__dict__, "__wrapped__")
        return None if wrapped is None or not depth else _find_function(wrapped, code, depth - 1)
    if not depth:
        return None
    if kind is types.MethodType:
        return _find_function(value.__func__, code, depth - 1)
    if introspection.is_instance_of(value, "functools", "partial"):
        member = introspection.find_in_mro(kind, "func")[1]
        if type(member) is types.MemberDescriptorType:
            return _find_function(member.__get__(value), code, depth - 1)
    return None
