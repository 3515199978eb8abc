"""Where a step over a function's `return` ends, before Python 3.12: in the caller.

pydevd makes a "step into" of it there, which ends in the next function that the caller's line
calls. From 3.12 on it makes a "step out" of it, as is done here.
"""

from __future__ import annotations

import opcode
from _thread import get_ident
from typing import Any

_RETURN_VALUE = opcode.opmap["RETURN_VALUE"]
# pydevd's CMD_STEP_OVER and CMD_STEP_OVER_MY_CODE, each with its CMD_STEP_RETURN
_STEP_OUT = {108: 109, 159: 160}
_OVER_MY_CODE = 159


def step_to_caller(db: Any, frame: Any) -> None:
    """Called at the "return" of a frame; changes a step over it into a step out of it."""
    thread = db.threading_active.get(get_ident())
    info = getattr(thread, "additional_info", None)
    if info is None or info.pydev_step_stop is not frame or info.pydev_use_scoped_step_frame:
        return
    command = info.pydev_step_cmd
    caller = frame.f_back
    # An exception that leaves the frame is a "return" as well, and goes on to its handler.
    if command not in _STEP_OUT or caller is None or not _returns(frame):
        return
    if db.get_file_type(caller) is not None:
        return
    if not db.apply_files_filter(caller, caller.f_code.co_filename, command == _OVER_MY_CODE):
        info.pydev_step_cmd = _STEP_OUT[command]


def _returns(frame: Any) -> bool:
    return bool(frame.f_code.co_code[frame.f_lasti] == _RETURN_VALUE)
