"""Begins and ends a recording, as the server has asked for it."""

from __future__ import annotations

import os
import sys
import time
from typing import Any, Callable, Dict, Optional

from . import trace_errors

FORMAT = 1
ON_PICKED_END: Optional[Callable[[], None]] = None
"""Called when the picked invocation has ended and is in the recording."""

_CURRENT: Any = None


def begin(spec: Dict[str, Any]) -> None:
    """Begin to record, before the program's own code is compiled."""
    global _CURRENT
    end()
    kind = spec.get("kind")
    if kind == "run":
        from . import run_recorder

        _CURRENT = run_recorder.begin(spec)
    elif kind == "calls":
        from . import call_counts

        _CURRENT = call_counts.begin(spec, make_header(spec))
    else:
        from . import frame_trace

        _CURRENT = frame_trace.begin(spec, make_header(spec), _tell_picked_end)


def _tell_picked_end() -> None:
    if ON_PICKED_END is not None:
        ON_PICKED_END()


def make_header(spec: Dict[str, Any]) -> Dict[str, Any]:
    """The first line of a recording."""
    facts = {key: value for key, value in spec.items() if key != "path"}
    return {
        "format": FORMAT,
        "kind": spec.get("kind", "frame"),
        "python": "%d.%d.%d" % sys.version_info[:3],
        "argv": [str(each) for each in sys.argv],
        "cwd": os.getcwd(),
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        **facts,
    }


def prepare_code(code: Any) -> Any:
    """The code to run in place of the script's, which may have hooks in it."""
    prepare = getattr(_CURRENT, "prepare_code", None)
    if prepare is None:
        return code
    try:
        return prepare(code, "__main__")
    except Exception as error:
        if not trace_errors.is_ours(error):
            raise
        _CURRENT.fail(error)
        return code


def end() -> None:
    """End the recording and close its file. It may be called again, and in a forked child."""
    global _CURRENT
    current, _CURRENT = _CURRENT, None
    if current is not None:
        current.end()


def _leave_fork() -> None:
    """A forked child records nothing: what it inherits is its parent's."""
    try:
        end()
    except Exception:
        pass  # the child is the program's, whatever state the fork has left us in


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_fork)
