"""Stops at an exception that a test runner has caught, as if nothing had."""

from __future__ import annotations

import types
from typing import Any, List

from .exception_filters import FILTERS, stop_at_crash
from .pydevd_access import current, is_detached


def stop_at_exception(error: BaseException, frames: List[Any]) -> bool:
    """Stop this thread at the last of these frames, whatever the filters say.

    `frames` are the entries of the exception's traceback that a user wants to see, outermost first.
    Returns whether there is a debugger that could stop it.
    """
    db = current()
    if db is None or is_detached(db) or db.pydb_disposed or not frames:
        return False
    trace = link_trace(frames)
    if hasattr(db, "trigger_exception_handler"):
        db.trigger_exception_handler((type(error), error, trace), as_uncaught=False)
    else:  # of an older debugpy
        stop_at_crash(error, trace)
    FILTERS.forget_stop()  # the next test may fail at the same line, in a frame at the same address
    return True


def link_trace(entries: List[Any]) -> Any:
    """A traceback with these entries alone."""
    trace = None
    for entry in reversed(entries):
        trace = types.TracebackType(trace, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return trace
