"""The frames that an invocation was made within, and the thread that made it."""

from __future__ import annotations

import threading
from typing import Any, Dict, List

from .code_plan import list_parameters
from .frame_locals import read_parameters
from .trace_errors import is_own_file
from .traced_values import show

_MAX_CALLERS = 10
_MAX_WITH_ARGUMENTS = 2
_ROOM = 30
_ours: Dict[str, bool] = {}  # files of the debugger, and others


def list_callers(frame: Any) -> List[List[Any]]:
    """Function, file, line and arguments of each caller, the innermost first."""
    callers: List[List[Any]] = []
    caller = frame.f_back
    while caller is not None and len(callers) < _MAX_CALLERS:
        code = caller.f_code
        file = code.co_filename
        is_ours = _ours.get(file)
        if is_ours is None:
            is_ours = _ours[file] = is_own_file(file)
        if not is_ours:
            row = [getattr(code, "co_qualname", code.co_name), file, caller.f_lineno]
            if len(callers) < _MAX_WITH_ARGUMENTS:
                row.append(read_arguments(caller))
            callers.append(row)
        caller = caller.f_back
    return callers


def read_arguments(frame: Any) -> Dict[str, str]:
    """The parameters of a frame with their values as text."""
    names = list_parameters(frame.f_code)
    return {name: show(value, _ROOM) for name, value in read_parameters(frame, names)}


def read_first(frame: Any) -> Any:
    """The first argument of a frame, as it is now."""
    names = list_parameters(frame.f_code)[:1]
    return next((value for _name, value in read_parameters(frame, names)), None)


def find_thread_name() -> str:
    """The name of this thread; a thread that `threading` does not know stays unknown to it."""
    thread: Any = threading._active.get(threading.get_ident())  # type: ignore[attr-defined]
    name = getattr(thread, "_name", None)
    return name if type(name) is str else ""
