"""Keeps our frames out of what an application reports: its tracebacks, its logs, its warnings.

While a wrapped function runs, a few frames of ours are between it and its caller. Three things make
them disappear; docs/decisions/0017-frames-in-between.md says why these, and what they leave.

- `warnings`, and `logging` from Python 3.11 on, pass over frames of the import system. They know
  them by two words in the name of the file. `hide_module` puts these words into the name of ours.
- An exception leaves each frame by a bare `raise`, which adds no entry to the traceback, after
  `strip` has removed the entries that were there (from Python 3.11 on; before that one is left).
- Compiled functions have no frame, so that a warning of theirs is about the frame that calls them.
  `call_from` calls them from one that looks like the application's.
"""

from __future__ import annotations

import functools
import os
import sys
import types
from collections.abc import Callable
from typing import Any

# `a/importlib_bootstrap/../b.py` is still `a/b.py` for whoever normalizes it, such as a debugger.
_DETOUR = os.path.join("importlib_bootstrap", os.pardir)
_CAN_STRIP_ALL = sys.version_info >= (3, 11)
_COMPILED = frozenset(
    (
        types.BuiltinFunctionType,  # also of Python's C modules, and most other compiled ones
        types.MethodWrapperType,
        types.WrapperDescriptorType,
        types.MethodDescriptorType,
        types.ClassMethodDescriptorType,
    )
)
_COMPILED_NAMES = ("cython_function_or_method", "ufunc")
_MAX_STAND_INS = 4096

_hidden_files: set[str] = set()
# By code and instruction; the code is kept, so that its id stays its own.
_stand_ins: dict[tuple[int, int], tuple[types.CodeType, types.CodeType]] = {}


# -- the names of our files ------------------------------------------------------------------------


def hide_module(name: str) -> None:
    """Hide the frames of all functions of a module. It is called at the module's end."""
    module = sys.modules[name]
    folder, base = os.path.split(str(module.__file__))
    file = os.path.join(folder, _DETOUR, base)
    _hidden_files.add(file)
    vars(module)["__tracebackhide__"] = True  # for pytest, where an entry is left
    for value in list(vars(module).values()):
        if getattr(value, "__module__", None) == name:
            _hide(value, file)


def _hide(value: Any, file: str) -> None:
    if isinstance(value, types.FunctionType):
        value.__code__ = _rename(value.__code__, file)
        _hide(getattr(value, "__wrapped__", None), file)
    elif isinstance(value, property):
        _hide(value.fget, file)
    elif isinstance(value, type):
        for member in list(vars(value).values()):
            _hide(member, file)


def _rename(code: types.CodeType, file: str) -> types.CodeType:
    constants = tuple(
        _rename(constant, file) if isinstance(constant, types.CodeType) else constant
        for constant in code.co_consts
    )
    return code.replace(co_filename=file, co_consts=constants)


def is_hidden(code: types.CodeType) -> bool:
    return code.co_filename in _hidden_files or code.co_varnames[:1] == _MARK


# -- tracebacks ------------------------------------------------------------------------------------


def strip(error: BaseException, through: Any = None) -> None:
    """Remove our frames from the outer end of a traceback. Then `raise`, without the exception.

    `raise error` would add the frame that does it. A function that we called `through`, to reach
    the application's, is removed too.
    """
    entry = outermost = error.__traceback__
    helper = None if through is None else through.__code__
    while entry is not None:
        code = entry.tb_frame.f_code
        if code is not helper and not is_hidden(code):
            break
        entry = entry.tb_next
    if _CAN_STRIP_ALL:
        error.__traceback__ = entry
    elif outermost is not None and outermost is not entry:
        outermost.tb_next = entry


def stripped(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, leaving no entries in the tracebacks of what it raises."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except BaseException as error:
            strip(error)
            raise

    return call


# -- functions that have no frame of their own -----------------------------------------------------


def is_compiled(function: Any) -> bool:
    """Whether calling it makes no Python frame."""
    cls = type(function)
    if cls in _COMPILED:
        return True
    if cls is types.MethodType:
        return is_compiled(function.__func__)
    if cls is functools.partial:
        return is_compiled(function.func)
    return cls.__name__ in _COMPILED_NAMES


def call_from(
    frame: types.FrameType,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """Call it from a frame that has the file, the line and the globals of this one."""
    key = (id(frame.f_code), frame.f_lasti)
    known = _stand_ins.get(key) or _add_stand_in(key, frame)
    stand_in: Any = types.FunctionType(known[1], frame.f_globals)
    return stand_in(function, args, kwargs)


def call_from_caller(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The same for the nearest frame that is not ours."""
    frame = sys._getframe(1)
    while is_hidden(frame.f_code) and frame.f_back is not None:
        frame = frame.f_back
    return call_from(frame, function, args, kwargs)


def _call(_holdfast_function: Any, _args: Any, _kwargs: Any) -> Any:
    return _holdfast_function(*_args, **_kwargs)


_MARK = _call.__code__.co_varnames[:1]


def _add_stand_in(
    key: tuple[int, int], frame: types.FrameType
) -> tuple[types.CodeType, types.CodeType]:
    if len(_stand_ins) >= _MAX_STAND_INS:
        _stand_ins.clear()
    # The body of the function is on the line after its first.
    stand_in = _call.__code__.replace(
        co_filename=frame.f_code.co_filename,
        co_firstlineno=(frame.f_lineno or frame.f_code.co_firstlineno) - 1,
        co_name=frame.f_code.co_name,
    )
    known = _stand_ins[key] = frame.f_code, stand_in
    return known


hide_module(__name__)
