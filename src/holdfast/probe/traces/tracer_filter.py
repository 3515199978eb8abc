"""Keeps our hooks out of sight of trace functions that the program sets, before Python 3.12.

A function of Python that rewritten code calls would be a call like any other for `sys.settrace` and
`sys.setprofile`.
"""

from __future__ import annotations

import sys
from typing import Any, Callable

from . import trace_errors

HOOK_FILE = "<holdfast hooks>"
_MARK = "_holdfast_original"


def install() -> None:
    """Let functions that are set from now on see the program's frames only."""
    for setter, getter in (("settrace", "gettrace"), ("setprofile", "getprofile")):
        original_set, original_get = getattr(sys, setter), getattr(sys, getter)
        if not hasattr(original_get, _MARK):
            setattr(sys, setter, _make_setter(setter, original_set, original_get))
            setattr(sys, getter, _make_getter(getter, original_get))


def _make_setter(name: str, original: Any, get: Any) -> Any:
    def setter(function: Any) -> Any:
        return original(_filter(function) if _is_programs(function) else function)

    setter.__name__ = setter.__qualname__ = name
    vars(setter).update(vars(original) if hasattr(original, "__dict__") else {})
    return setter


def _make_getter(name: str, original: Any) -> Any:
    def getter() -> Any:
        function = original()
        return getattr(function, _MARK, function)

    getter.__name__ = getter.__qualname__ = name
    setattr(getter, _MARK, original)
    return getter


def _is_programs(function: Any) -> bool:
    """Only functions of Python see our frames as calls; debuggers know their own files."""
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    return code is not None and not trace_errors.is_own_file(code.co_filename)


def _filter(function: Callable[..., Any]) -> Any:
    is_own = trace_errors.is_own_file

    def filtered(frame: Any, event: str, arg: Any) -> Any:
        if is_own(frame.f_code.co_filename):
            return None
        return function(frame, event, arg)

    setattr(filtered, _MARK, function)
    return filtered
