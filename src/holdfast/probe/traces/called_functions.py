"""Which function of Python a call is going to run, and how the call is told."""

from __future__ import annotations

import types
from typing import Any, Optional, Sequence, Tuple

from .. import introspection
from ..function_names import strip_locals
from .trace_errors import is_own_file
from .traced_values import show

_ROOM = 30
_VARIADIC = 4  # CO_VARARGS


def find_function(called: Any) -> Any:
    """The function that runs, if it is written in Python: of a class, its `__init__`.

    Those that the debugger has put in the place of others, such as `os.fork`, do not count.
    """
    kind = type(called)
    if kind is types.MethodType:
        called = called.__func__
    elif issubclass(kind, type):
        called = introspection.find_in_mro(called, "__init__")[1]
    if type(called) is not types.FunctionType or is_own_file(called.__code__.co_filename):
        return None
    return called


def describe_call(
    below: Any, method: Optional[str], args: Sequence[Any], keywords: Sequence[str]
) -> Optional[Tuple[str, str]]:
    """Name and arguments of a call; None if no function of Python is called.

    `below`: what is called; or the object whose `method` it is, to be found in its class.
    """
    kind = type(below)
    function = find_function(below)
    is_bound = kind is types.MethodType or (function is not None and kind is not types.FunctionType)
    if function is None and method is not None:
        function = introspection.find_in_mro(kind, method)[1]
        if type(function) is not types.FunctionType:
            return None
        is_bound = True
    if function is None:
        return None
    code = function.__code__
    if issubclass(kind, type) and code.co_name == "__init__":
        name = introspection.type_name(below)
    else:
        name = strip_locals(str.__str__(function.__qualname__))
    return name, _show_arguments(code, args, keywords, is_bound)


def _show_arguments(code: Any, args: Sequence[Any], keywords: Sequence[str], is_bound: bool) -> str:
    count = len(args) - len(keywords)
    names = code.co_varnames[int(is_bound) : code.co_argcount]
    texts = []
    for index, value in enumerate(args):
        if index >= count:
            texts.append("%s=%s" % (keywords[index - count], show(value, _ROOM)))
        elif index < len(names):
            texts.append("%s=%s" % (names[index], show(value, _ROOM)))
        else:
            texts.append(show(value, _ROOM))
    return ", ".join(texts)
