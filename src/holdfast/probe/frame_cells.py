"""Finds the cell of a variable that a frame shares with other functions.

Python has no name for it: a frame shows the values in its cells only. The cell is in the closure of
the function that runs, or of one that was defined in the frame.
"""

from __future__ import annotations

import ctypes
import gc
import sys
import types
from typing import Any, List, Optional

_HEAD = 16  # bytes that every object begins with, unless Python was built without the lock
_POINTER = 8
_INNER_FRAME = _HEAD + _POINTER  # in a frame object: after its head and `f_back`
_FUNCTION = 0 if sys.version_info < (3, 12) else 2 * _POINTER  # in the inner frame, from 3.11 on


def find_cell(frame: Any, name: str) -> Optional[Any]:
    """The cell, or None where it cannot be told from others."""
    code = frame.f_code
    if name in code.co_freevars:
        function = _find_function(frame, _list_functions(code))
        return None if function is None else _cell_of(function, name)
    inner = [const for const in code.co_consts if type(const) is types.CodeType]
    held = list(frame.f_locals.values())
    for const in inner:
        for function in _list_functions(const) if name in const.co_freevars else ():
            if any(value is function for value in held):
                return _cell_of(function, name)
    return None


def _list_functions(code: Any) -> List[Any]:
    referrers = gc.get_referrers(code)
    return [each for each in referrers if type(each) is types.FunctionType and each.__closure__]


def _cell_of(function: Any, name: str) -> Any:
    return function.__closure__[function.__code__.co_freevars.index(name)]


def _find_function(frame: Any, candidates: List[Any]) -> Optional[Any]:
    """The function that a frame runs."""
    if len(candidates) <= 1:
        return candidates[0] if candidates else None
    if sys.version_info < (3, 11):  # the frame itself has the cells
        own = {id(referent) for referent in gc.get_referents(frame)}
        found = [one for one in candidates if all(id(cell) in own for cell in one.__closure__)]
        return found[0] if len(found) == 1 else None
    if sys.implementation.name != "cpython" or object.__basicsize__ != _HEAD:
        return None
    # Only compared with what is known: where the layout is another one, nothing matches.
    inner = ctypes.c_void_p.from_address(id(frame) + _INNER_FRAME).value
    if not inner:
        return None
    address = (ctypes.c_void_p.from_address(inner + _FUNCTION).value or 0) & ~7
    return next((one for one in candidates if id(one) == address), None)
