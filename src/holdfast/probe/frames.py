"""The frames of a thread that a user wants to see, and the names in them."""

from __future__ import annotations

import itertools
import sys
import types
from typing import Any, Dict, Iterator, Optional, Tuple

from .generator_entries import ENTERED_MARK
from .pydevd_access import RequestFailed, is_ours, user_threads

_MODULE_NAMES = {
    "__name__",
    "__doc__",
    "__package__",
    "__loader__",
    "__spec__",
    "__annotations__",
    "__builtins__",
    "__file__",
    "__cached__",
}
RETURNED_VALUES = "__pydevd_ret_val_dict"  # where pydevd keeps what called functions returned
_HIDDEN_NAMES = {RETURNED_VALUES, "__exception__", ENTERED_MARK}

_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType)

Frame = Tuple[Any, int]  # a frame and the line to show for it


def iter_frames(db: Any, thread_id: str) -> Iterator[Frame]:
    """The frames a user wants to see, top first, of a suspended or a running thread."""
    suspended = db.suspended_frames_manager.get_frames_list(thread_id)
    if suspended is not None:
        lines = suspended.frame_id_to_lineno
        pairs = (
            (frame, lines.get(id(frame), frame.f_lineno)) for frame in _suspended_frames(suspended)
        )
    else:
        pairs = ((frame, frame.f_lineno) for frame in _running_frames(thread_id))
    yield from _drop_debugger_frames(pairs)


def _suspended_frames(suspended: Any) -> Iterator[Any]:
    """What pydevd keeps of the stack, and the rest of a deep one, which it keeps in part only."""
    frame = None
    for frame in suspended:
        yield frame
    frame = getattr(frame, "f_back", None) if suspended.exc_type is None else None
    while frame is not None:
        yield frame
        frame = frame.f_back


def _drop_debugger_frames(pairs: Iterator[Frame]) -> Iterator[Frame]:
    in_program = False
    for frame, line in pairs:
        if is_ours(frame.f_code.co_filename):
            if in_program and frame.f_code.co_name == "_exec":
                return  # below are only the frames that started the program
            continue
        in_program = True
        yield frame, line or frame.f_code.co_firstlineno


def _running_frames(thread_id: str) -> Iterator[Any]:
    for known, thread in user_threads():
        if known == thread_id:
            frame = sys._current_frames().get(thread.ident)
            while frame is not None:
                yield frame
                frame = frame.f_back
            return
    raise RequestFailed("thread", "the thread has ended")


def is_suspended(db: Any, thread_id: str) -> bool:
    """Whether the debugger holds this thread; one that is blocked elsewhere runs, for pydevd."""
    return db.suspended_frames_manager.get_frames_list(thread_id) is not None


def mark_of(frame: Any) -> str:
    """A name for the frame at its present instruction: another one, once it has run on."""
    return "%x:%d" % (id(frame), frame.f_lasti)


def frame_at(db: Any, thread_id: str, depth: int, mark: Optional[str] = None) -> Any:
    """The frame `depth` levels out from the top of a thread.

    With its mark, a frame of a thread that is not suspended can be had too, for as long as it has
    not moved. Others of its frames may have: then it is found at another depth.
    """
    if mark is None and not is_suspended(db, thread_id):
        raise RequestFailed("resumed", "the thread is running")
    for frame, _line in itertools.islice(iter_frames(db, thread_id), depth, depth + 1):
        if mark is None or mark_of(frame) == mark:
            return frame
    if mark is None:
        raise RequestFailed("frame", "no frame %d in this thread" % depth)
    for frame, _line in iter_frames(db, thread_id):
        if mark_of(frame) == mark:
            return frame
    raise RequestFailed("frame", "this frame has run on since its thread's stack was read")


def describe_frame(frame: Any, line: int, db: Any) -> Dict[str, Any]:
    code = frame.f_code
    described = {
        "name": code.co_name,  # the same on every Python; only newer ones have a qualname
        "file": _frame_path(frame),
        "line": line,
        "module": str(frame.f_globals.get("__name__", "")),
    }
    qualname = getattr(code, "co_qualname", code.co_name)
    if qualname != code.co_name:
        described["qualname"] = qualname
    if not db.in_project_scope(frame):
        described["library"] = True
    return described


def _frame_path(frame: Any) -> str:
    from pydevd_file_utils import get_abs_path_real_path_and_base_from_frame

    path: str = get_abs_path_real_path_and_base_from_frame(frame)[0]
    return path


def describe_stack(db: Any, thread_id: str, start: int, count: Optional[int]) -> Dict[str, Any]:
    frames = list(iter_frames(db, thread_id))
    end = None if count is None else start + count
    return {
        "frames": [
            dict(describe_frame(frame, line, db), mark=mark_of(frame))
            for frame, line in frames[start:end]
        ],
        "total": len(frames),
        "suspended": is_suspended(db, thread_id),
    }


# -- names ----------------------------------------------------------------------------------------


def read_locals(frame: Any) -> Dict[str, Any]:
    """A frame's locals; in a module without the names that every module has."""
    names = frame.f_locals
    if names is frame.f_globals or frame.f_code.co_name == "<module>":
        return _order_module(
            {k: v for k, v in names.items() if k not in _MODULE_NAMES and not _is_hidden(k)}
        )
    return {
        k: v for k, v in names.items() if not _is_hidden(k) and isinstance(k, str) and k[:1] != "."
    }


def read_globals(frame: Any) -> Dict[str, Any]:
    return _order_module(
        {k: v for k, v in frame.f_globals.items() if k != "__builtins__" and not _is_hidden(k)}
    )


def _is_hidden(name: Any) -> bool:
    """Whether it is not the user's: names with `@` are those of pytest's assertions."""
    return name in _HIDDEN_NAMES or (isinstance(name, str) and name[:1] == "@")


def _order_module(names: Dict[str, Any]) -> Dict[str, Any]:
    """The names of a module, with what it computes before what it imports and defines."""
    ranks = {name: _rank(name, value) for name, value in names.items()}
    return {name: names[name] for name in sorted(names, key=ranks.__getitem__)}


def _rank(name: Any, value: Any) -> int:
    if name in _MODULE_NAMES:
        return 4
    kind = type(value)  # not isinstance, which may run the program's code
    if issubclass(kind, types.ModuleType):
        return 3
    if issubclass(kind, _FUNCTIONS):
        return 2
    return 1 if issubclass(kind, type) else 0
