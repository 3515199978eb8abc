"""Where a step that leaves its function ends, before Python 3.12: in the caller.

pydevd makes a "step into" of it there. At a `return`, that ends in the next function that the
caller's line calls; from 3.12 on pydevd makes a "step out" of it, as is done here. When an
exception leaves the function, it ends wherever the exception leaves one more, without a word of
it; here it goes on in the caller, to the handler or to whatever else runs there before.
"""

from __future__ import annotations

import opcode
from _thread import get_ident
from typing import Any

_RETURN_VALUE = opcode.opmap["RETURN_VALUE"]
_YIELD_VALUE = opcode.opmap["YIELD_VALUE"]
# Before 3.11; a frame that it suspends is just before it, one that it raises in at it.
_YIELD_FROM = bytes([opcode.opmap["YIELD_FROM"]]) if "YIELD_FROM" in opcode.opmap else None
_GENERATOR_FLAGS = 0x2A0  # CO_GENERATOR, CO_COROUTINE or CO_ASYNC_GENERATOR
# pydevd's CMD_STEP_OVER and CMD_STEP_OVER_MY_CODE, each with its CMD_STEP_RETURN
_STEP_OUT = {108: 109, 159: 160}
# each command that is bound to a frame, with its "step over" and its "step into"
_STEP_OVER = {108: 108, 109: 108, 128: 108, 159: 159, 160: 159, 206: 108}
_STEP_INTO = {108: 107, 159: 144}
_STEP_INTO_ANY = frozenset((107, 144, 206))  # also CMD_STEP_INTO_COROUTINE
_OVER_MY_CODE = 159


def is_thrown_into(frame: Any, kind: Any) -> bool:
    """Called at an "exception": whether one came into a generator by its `yield`."""
    code = frame.f_code
    if not code.co_flags & _GENERATOR_FLAGS or kind is StopIteration:
        return False
    return bool(code.co_code[frame.f_lasti] == _YIELD_VALUE)


def leave_frame(db: Any, frame: Any, value: Any, was_thrown_into: bool) -> bool:
    """Called at the "return" of a frame; says whether pydevd is to see it.

    A step over a `return` becomes a step out of the frame. A step that an exception takes out of
    the frame goes on in the caller.
    """
    thread = db.threading_active.get(get_ident())
    info = getattr(thread, "additional_info", None)
    if info is None or info.pydev_use_scoped_step_frame:
        return True
    command, is_stepped = info.pydev_step_cmd, info.pydev_step_stop is frame
    if not is_stepped and command not in _STEP_INTO_ANY:
        return True
    if _is_unwound(frame, value, was_thrown_into):
        if is_stepped and command in _STEP_OVER:
            _follow_exception(db, info, frame)
        return _sees_unhandled(db, frame)  # pydevd would end a "step into" here, in the caller
    if command in _STEP_OUT and _returns(frame) and _is_stepped_in(db, frame.f_back, command):
        info.pydev_step_cmd = _STEP_OUT[command]
    return True


def _follow_exception(db: Any, info: Any, frame: Any) -> None:
    """Step on in the caller, or in whatever runs next of the user's if that is a library."""
    command = _STEP_OVER[info.pydev_step_cmd]
    caller = frame.f_back
    if _is_stepped_in(db, caller, command):
        info.pydev_step_cmd, info.pydev_step_stop = command, caller
    else:
        info.pydev_step_cmd, info.pydev_step_stop = _STEP_INTO[command], None
    if caller is not None:
        db.set_trace_for_frame_and_parents(get_ident(), caller)


def _is_stepped_in(db: Any, caller: Any, command: int) -> bool:
    if caller is None or db.get_file_type(caller) is not None:
        return False
    return not db.apply_files_filter(caller, caller.f_code.co_filename, command == _OVER_MY_CODE)


def _sees_unhandled(db: Any, frame: Any) -> bool:
    """Whether pydevd may stop at this exception, as one that leaves the user's code."""
    if not db.break_on_user_uncaught_exceptions:
        return False
    caller = frame.f_back
    return caller is None or bool(db.apply_files_filter(caller, caller.f_code.co_filename, True))


def _returns(frame: Any) -> bool:
    return bool(frame.f_code.co_code[frame.f_lasti] == _RETURN_VALUE)


def _is_unwound(frame: Any, value: Any, was_thrown_into: bool) -> bool:
    """Whether an exception leaves the frame: that is a "return" of None as well, like a `yield`."""
    if value is not None or _returns(frame):
        return False
    code, at = frame.f_code, frame.f_lasti
    if not code.co_flags & _GENERATOR_FLAGS:
        return True
    if code.co_code[at] == _YIELD_VALUE:
        return was_thrown_into
    return bool(code.co_code[at + 2 : at + 3] != _YIELD_FROM)
