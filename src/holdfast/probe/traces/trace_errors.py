"""Whose error it is that a hook of a recorder meets: ours, or the program's.

A hook runs no code of the program. But a signal handler of the program may interrupt it, and what
that raises is the program's.
"""

from __future__ import annotations

import os
import threading
from typing import Any, Callable

from .. import pydevd_access
from ..recursion_room import with_room

get_ident = threading.get_ident

# What hooks call of the standard library.
_USED = frozenset(
    "abc ast base64 codecs collections contextlib dis enum hashlib io itertools json linecache "
    "marshal opcode os pickle re sre_compile sre_parse threading tokenize traceback types "
    "weakref".split()
)


def is_ours(error: BaseException) -> bool:
    """Whether nothing but code of this package raised it.

    The program sees no more of our functions in its own than cannot be helped.
    """
    trace = error.__traceback__
    while trace is not None:
        if not _is_our_code(trace.tb_frame):
            error.__traceback__ = trace
            return False
        trace = trace.tb_next
    return isinstance(error, Exception)


def is_own_file(filename: str) -> bool:
    """Whether it is a file of this package or of the debugger."""
    return filename.startswith("<holdfast") or pydevd_access.is_ours(filename)


def _is_our_code(frame: Any) -> bool:
    if is_own_file(frame.f_code.co_filename):
        return True
    name = frame.f_globals.get("__name__")
    return type(name) is str and name.partition(".")[0] in _USED


def run_with_room(function: Callable[[], Any]) -> Any:
    """Run a hook again that came to the recursion limit; nothing if there is no room at all."""
    try:
        again = with_room(function)
        return again() if again is not None else None
    except RecursionError:
        return None


def describe(error: BaseException) -> str:
    trace: Any = error.__traceback__
    place = ""
    while trace is not None:
        code = trace.tb_frame.f_code
        place = " (%s:%d)" % (os.path.basename(code.co_filename), trace.tb_lineno)
        trace = trace.tb_next
    return "%s: %s%s" % (type(error).__name__, error, place)
