"""The frames that an invocation was made within, and the thread that made it."""

from __future__ import annotations

import threading
from typing import Any, Dict, List, Tuple

from .code_plan import list_parameters
from .frame_locals import UNBOUND, LocalNames
from .trace_errors import is_own_file
from .traced_values import show

_MAX_CALLERS = 10
_MAX_WITH_ARGUMENTS = 3
_ROOM = 30
_NAMES: Dict[int, Tuple[Any, LocalNames]] = {}  # by the id of a code object, which is kept
_MAX_NAMES = 500


def list_callers(frame: Any) -> List[List[Any]]:
    """Function, file, line and arguments of each caller, the innermost first."""
    callers: List[List[Any]] = []
    caller = frame.f_back
    while caller is not None and len(callers) < _MAX_CALLERS:
        code = caller.f_code
        if not is_own_file(code.co_filename):
            name = getattr(code, "co_qualname", code.co_name)
            row = [name, code.co_filename, caller.f_lineno]
            if len(callers) < _MAX_WITH_ARGUMENTS:
                row.append(read_arguments(caller))
            callers.append(row)
        caller = caller.f_back
    return callers


def read_arguments(frame: Any) -> Dict[str, str]:
    """The parameters of a frame with their values as text."""
    code = frame.f_code
    names = _find_names(code)
    if not names.is_function:
        return {}
    read, _values = names.make_reader(frame)
    texts = {}
    for name in list_parameters(code):
        try:
            texts[name] = show(read(name), _ROOM)
        except UNBOUND:
            pass
    return texts


def _find_names(code: Any) -> LocalNames:
    known = _NAMES.get(id(code))
    if known is None:
        if len(_NAMES) >= _MAX_NAMES:
            _NAMES.clear()
        known = _NAMES[id(code)] = (code, LocalNames(code))
    return known[1]


def find_thread_name() -> str:
    """The name of this thread; a thread that `threading` does not know stays unknown to it."""
    thread: Any = threading._active.get(threading.get_ident())  # type: ignore[attr-defined]
    name = getattr(thread, "_name", None)
    return name if type(name) is str else ""
