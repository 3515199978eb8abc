"""Calls that the debugger itself makes, which are no invocations of the program's."""

from __future__ import annotations

import os
import threading
from typing import Any, Dict

_LIBRARY = os.path.dirname(os.__file__) + os.sep
_KNOWN: Dict[str, bool] = {}
_get_ident = threading.get_ident


def is_debuggers_call(code: Any) -> bool:
    """Whether a thread of the debugger calls a function of the standard library."""
    file = code.co_filename
    is_standard = _KNOWN.get(file)
    if is_standard is None:
        is_standard = _KNOWN[file] = file.startswith(_LIBRARY)
    if not is_standard:
        return False
    thread: Any = threading._active.get(_get_ident())  # type: ignore[attr-defined]
    return bool(getattr(thread, "pydev_do_not_trace", False))
