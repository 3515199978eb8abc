"""Reads the local variables of a frame that runs, without a trace in the program.

Up to Python 3.12 `frame.f_locals` is one dict for each frame: asking for it changes what the
program got from `locals()`, and it keeps the values alive. So they are read where the interpreter
has them. If this is not the layout that we know, `f_locals` has to do.
"""

from __future__ import annotations

import ctypes
import sys
import types
from typing import Any, Callable, Dict, Iterator, Optional, Sequence, Tuple

Reader = Callable[[str], Any]
"""Gives the value of a variable; raises `UNBOUND` if it has none."""
UNBOUND = (ValueError, KeyError)

_OPTIMIZED = 0x1  # CO_OPTIMIZED: of a function; others have a dict of their own
_HEAD, _POINTER = 16, 8
_INNER_FRAME = _HEAD + _POINTER  # in a frame object: after its head and `f_back` (from 3.11 on)
_INNER_LOCALS = 9 * _POINTER  # in the inner frame
_NEWEST = (3, 13)  # later ones mark some of their references
_getframe = sys._getframe
_object_at = ctypes.py_object.from_address


class LocalNames:
    """Where the frames of one code object have their variables."""

    def __init__(self, code: Any) -> None:
        self.indexes: Dict[str, int] = {}
        self.cells = frozenset((*code.co_cellvars, *code.co_freevars))
        if sys.version_info >= (3, 11):
            names = dict.fromkeys((*code.co_varnames, *code.co_cellvars, *code.co_freevars))
            self.indexes = {name: index for index, name in enumerate(names)}
            self.size = len(names)
        else:
            ordered = (*code.co_varnames, *code.co_cellvars, *code.co_freevars)
            self.indexes = {name: index for index, name in enumerate(ordered)}  # the cell is last
            self.size = len(ordered)
        self.array = ctypes.py_object * max(1, self.size)
        self.is_function = bool(code.co_flags & _OPTIMIZED)

    def make_reader(self, frame: Any) -> Tuple[Reader, Optional[Any]]:
        """A reader for one frame, which holds no reference to it; and its variables by index."""
        if not self.is_function:
            return frame.f_locals.__getitem__, None
        if not CAN_READ:
            return _read_again, None
        return self._read_array(self.array.from_address(_find_locals(frame)))

    def _read_array(self, values: Any) -> Tuple[Reader, Any]:
        indexes, cells = self.indexes, self.cells
        cell_type = types.CellType

        def read(name: str) -> Any:
            value = values[indexes[name]]
            if name not in cells:
                return value
            if type(value) is not cell_type:  # a comprehension has taken its place for now
                raise KeyError(name)
            return value.cell_contents

        return (read if cells else lambda name: values[indexes[name]]), values

    def __iter__(self) -> Iterator[str]:
        return iter(self.indexes)


def read_parameters(frame: Any, names: Sequence[str]) -> Iterator[Tuple[str, Any]]:
    """The parameters of any frame that runs, where they have a value."""
    code = frame.f_code
    if not code.co_flags & _OPTIMIZED:
        return
    if not CAN_READ:
        held = frame.f_locals
        yield from [(name, held[name]) for name in names if name in held]
        return
    first, cells = _find_locals(frame), code.co_cellvars
    for index, name in enumerate(names):
        if name in cells and sys.version_info < (3, 11):
            index = code.co_nlocals + cells.index(name)
        try:
            value: Any = _object_at(first + index * _POINTER).value
            if name in cells and type(value) is types.CellType:
                value = value.cell_contents
        except ValueError:
            continue
        yield name, value


def _read_again(name: str) -> Any:
    """For a layout that we do not know: a hook of ours asks, which the frame has called."""
    frame: Any = _getframe(1)
    while frame is not None and frame.f_globals.get("__package__") == __package__:
        frame = frame.f_back
    return frame.f_locals[name]


def _find_locals(frame: Any) -> int:
    """The address of the first variable of a frame."""
    if sys.version_info >= (3, 11):
        inner = ctypes.c_void_p.from_address(id(frame) + _INNER_FRAME).value or 0
        return inner + _INNER_LOCALS
    return id(frame) + type(frame).__basicsize__ - _POINTER


def _is_known_layout() -> bool:
    if sys.implementation.name != "cpython" or sys.version_info[:2] > _NEWEST:
        return False
    if object.__basicsize__ != _HEAD or "t" in getattr(sys, "abiflags", ""):
        return False
    first, second = object(), object()
    return _check_layout(first, second) and _check_layout(second, first)


def _check_layout(first: Any, second: Any) -> bool:
    """Whether the addresses of a frame's own variables are where we look for them."""
    third = [first]

    def shares() -> Any:
        return third

    names = LocalNames(_getframe().f_code)
    addresses = (ctypes.c_void_p * names.size).from_address(_find_locals(_getframe()))
    cell = addresses[names.indexes["third"]]
    return (
        addresses[names.indexes["first"]] == id(first)
        and addresses[names.indexes["second"]] == id(second)
        and cell == id(shares.__closure__[0])  # type: ignore[index]
    )


CAN_READ = _is_known_layout()
