"""`breakpoint()` stops the program, except in an expression that is evaluated for a user.

The thread is held meanwhile, or about to be asked whether it stops: a stop of its own would let it
leave the line that it is at. The same goes for `debugpy.breakpoint()`.
"""

from __future__ import annotations

import sys
from typing import Any

from . import bounded_calls, evaluation, server_messages
from .breakpoint_rules import Expression, Rule

# What runs the user's expressions, and the program's own code to show a value.
_EVALUATING = frozenset(
    function.__code__
    for function in (
        evaluation.run_interruptibly,
        Expression.evaluate,
        Rule.should_stop,
        Rule._write_log,
        bounded_calls._Job.run,
    )
)
_REMARK = "breakpoint() does nothing while an expression is evaluated."


class _Told:
    """A condition may call it at every hit, which is told once."""

    is_told = False


def install(pydevd: Any) -> None:
    original = pydevd.settrace

    def settrace(*args: Any, **options: Any) -> Any:
        if options.get("suspend", True) and _is_evaluated(sys._getframe(1)):
            if not _Told.is_told:
                _Told.is_told = True
                server_messages.report("remark", text=_REMARK)
            return None
        return original(*args, **options)

    pydevd.settrace = settrace


def _is_evaluated(frame: Any) -> bool:
    while frame is not None:
        if frame.f_code in _EVALUATING:
            return True
        frame = frame.f_back
    return False
