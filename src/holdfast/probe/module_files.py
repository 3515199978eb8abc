"""Keeps the debugger's files out of reports about the program's.

coverage.py reports each file whose code it sees run. Of the debugger it sees what the program
calls without knowing, such as the writing of its output. It leaves out a module whose `__file__`
begins with `<`.
"""

from __future__ import annotations

import os
import sys
from types import ModuleType
from typing import Any

from .pydevd_access import is_ours

# pydevd finds its compiled helper beside this module, when it needs it.
_KEPT = "pydevd_tracing"


def hide_from_coverage() -> None:
    _keep_path_of_pydevd()
    for name, module in list(sys.modules.items()):
        file = module.__dict__.get("__file__") if isinstance(module, ModuleType) else None
        if isinstance(file, str) and is_ours(file) and name != _KEPT:
            module.__file__ = "<debugger>/" + os.path.basename(file)


def find_path(module: Any) -> str:
    """Where a module of the debugger is, hidden or not."""
    spec = getattr(module, "__spec__", None)
    path: str = getattr(spec, "origin", None) or module.__file__
    return os.path.abspath(path)


def _keep_path_of_pydevd() -> None:
    """pydevd starts children with its own file, if that is left to it."""
    import pydevd
    from _pydevd_bundle import pydevd_command_line_handling

    path = find_path(pydevd)
    pydevd_command_line_handling.get_pydevd_file = lambda: path
