"""Reads the variables of a running frame, and changes nothing by it.

Before 3.13, `frame.f_locals` of a function is a copy that the frame keeps: it would be updated
under the eyes of a program that has called `locals()`, and would keep old values alive. On 3.12 a
variable is read without it. Before, tracing makes the copy anyway.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any, Callable, Dict, FrozenSet, Optional

UNKNOWN: Any = type("Unknown", (), {"__slots__": ()})()
"""Stands for a value that cannot be told."""

NOTHING: FrozenSet[str] = frozenset()
_OPTIMIZED = 1  # CO_OPTIMIZED: the code of a function, whose variables are not in a dict
_get = dict.get
Read = Callable[[str], Any]


def list_names(code: Any) -> FrozenSet[str]:
    """The variables of a function, with those that it shares with others."""
    return frozenset((*code.co_varnames, *code.co_cellvars, *code.co_freevars))


class FrameNames:
    """The variables of one frame, and those of its module; for use within one event."""

    __slots__ = ("_hidden", "_known", "_read", "globals")

    def __init__(self, frame: Any, own: FrozenSet[str], hidden: FrozenSet[str] = NOTHING) -> None:
        """`hidden`: names that may stand for something else while a statement is under way."""
        self.globals: Dict[str, Any] = frame.f_globals
        self._hidden = hidden
        self._known: Dict[str, Any] = {}
        self._read = _make_reader(frame, own)

    def read(self, name: str) -> Any:
        """The value of a variable as the frame sees it, or UNKNOWN."""
        known = self._known
        if name in known:
            return known[name]
        value = self.read_local(name)
        if value is UNKNOWN:
            value = _get(self.globals, name, UNKNOWN)
        known[name] = value
        return value

    def read_local(self, name: str) -> Any:
        if self._read is None or name in self._hidden:
            return UNKNOWN
        return self._read(name)


def _read_dict(frame: Any, _own: FrozenSet[str]) -> Optional[Read]:
    """A function that reads a variable of a frame; None if only the program's code could."""
    names = frame.f_locals
    is_dict = issubclass(type(names), dict)  # of a class body, it may be of a class of its own
    return (lambda name: _get(names, name, UNKNOWN)) if is_dict else None


def _read_proxy(frame: Any, own: FrozenSet[str]) -> Optional[Read]:
    names = frame.f_locals
    if type(names) is dict or not frame.f_code.co_flags & _OPTIMIZED:
        return _read_dict(frame, own)
    get = names.get
    return lambda name: get(name, UNKNOWN) if name in own else UNKNOWN


def _build_single_reader() -> Callable[[Any, FrozenSet[str]], Optional[Read]]:
    get_variable = ctypes.PyDLL(None).PyFrame_GetVar
    get_variable.argtypes, get_variable.restype = [ctypes.py_object] * 2, ctypes.py_object

    def read_single(frame: Any, own: FrozenSet[str]) -> Optional[Read]:
        if not frame.f_code.co_flags & _OPTIMIZED:
            return _read_dict(frame, own)

        def read(name: str) -> Any:
            if name not in own:
                return UNKNOWN
            try:
                return get_variable(frame, name)
            except NameError:  # not bound now
                return UNKNOWN

        return read

    return read_single


if sys.version_info >= (3, 13):
    _make_reader = _read_proxy
elif sys.version_info >= (3, 12) and sys.implementation.name == "cpython":
    _make_reader = _build_single_reader()
else:
    _make_reader = _read_dict
