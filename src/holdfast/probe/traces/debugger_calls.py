"""Calls that the debugger itself makes, which are no invocations of the program's."""

from __future__ import annotations

import os
import threading
from typing import Any

from ..pydevd_access import is_called_by_debugger

_LIBRARY = os.path.dirname(os.__file__) + os.sep
_get_ident = threading.get_ident


def is_standard(code: Any) -> bool:
    """Whether the debugger may call it as well: a function of the standard library."""
    file: str = code.co_filename
    return file.startswith(_LIBRARY)


def is_debuggers_call(frame: Any) -> bool:
    """Whether the debugger has called this function of the standard library."""
    thread: Any = threading._active.get(_get_ident())  # type: ignore[attr-defined]
    return getattr(thread, "pydev_do_not_trace", False) or is_called_by_debugger(frame)
