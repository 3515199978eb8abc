"""Frames of threads that the debugger does not hold: they run, or are blocked in a lock or in C.

Such a frame is read from the debugger's own thread, at the moment of the request. It counts as the
same frame until it runs its next instruction. What was sent of its values is forgotten after that,
so that nothing stays alive in a program that runs.
"""

from __future__ import annotations

from typing import Any, Dict, Tuple

from . import stop_snapshots, variables
from .frames import frame_at, is_suspended, iter_frames, mark_of
from .pydevd_access import RequestFailed

_OWNERS: Dict[str, Tuple[str, str]] = {}  # owners of references: the thread and the frame's mark


def find_frame(db: Any, thread_id: str, args: Dict[str, Any]) -> Tuple[Any, str]:
    """The frame that a request means, and the owner of the references into it."""
    mark = args.get("mark")
    frame = frame_at(db, thread_id, args["depth"], mark)
    if mark is None or is_suspended(db, thread_id):
        return frame, thread_id
    owner = "%s@%s" % (thread_id, mark)
    _OWNERS[owner] = (thread_id, mark)
    return frame, owner


def is_live(owner: str) -> bool:
    """Whether references of this owner belong to a thread that was not held."""
    return owner in _OWNERS


def drop_moved(db: Any) -> None:
    """Forget the references into frames that have run on."""
    for owner, (thread_id, mark) in list(_OWNERS.items()):
        if not _is_there(db, thread_id, mark):
            _OWNERS.pop(owner, None)
            stop_snapshots.drop_references(owner)


def _is_there(db: Any, thread_id: str, mark: str) -> bool:
    try:
        return any(mark_of(frame) == mark for frame, _line in iter_frames(db, thread_id))
    except RequestFailed:
        return False


def evaluate(frame: Any, owner: str, expression: str, **shown: Any) -> Dict[str, Any]:
    """The value of an expression, with copies of the frame's names: it can assign nothing."""
    text = expression.strip()
    try:
        code = compile(text, "<expression>", "eval")
    except SyntaxError:
        compile(text, "<expression>", "exec")  # raises what is wrong with it, if it is no statement
        message = "only an expression can be evaluated in a thread that is not held, no statement"
        hint = "Evaluate an expression, or wait until the thread is held."
        raise RequestFailed("raised", message, type="SyntaxError", hint=hint) from None
    value = eval(code, {**frame.f_globals, **frame.f_locals})
    return variables.describe_result(value, expression, stop_snapshots.HANDLES, owner, **shown)
