"""Stops: which frames there are, and a snapshot of them inside every stop event.

The snapshot means that the server knows location, stack top and locals the moment it learns of
a stop, without asking again.
"""

from __future__ import annotations

import itertools
import sys
import threading
from typing import Any, Dict, Iterator, List, Optional, Tuple

from . import (
    bounded_calls,
    breakpoint_rules,
    debugger,
    generator_entries,
    missed_breakpoints,
    variables,
)

HANDLES = variables.Handles()
_SNAPSHOT_FRAMES = 20
_MAX_LOCALS = 200
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
_RETURNS = "__pydevd_ret_val_dict"
_HIDDEN = {_RETURNS, "__exception__", generator_entries.ENTERED}

Frame = Tuple[Any, int]  # a frame and the line to show for it


# -- frames ---------------------------------------------------------------------------------------


def frames_of(db: Any, thread_id: str) -> List[Frame]:
    """The frames a user wants to see, top first, of a suspended or a running thread."""
    return list(iter_frames(db, thread_id))


def iter_frames(db: Any, thread_id: str) -> Iterator[Frame]:
    suspended = db.suspended_frames_manager.get_frames_list(thread_id)
    if suspended is not None:
        lines = suspended.frame_id_to_lineno
        pairs = ((frame, lines.get(id(frame), frame.f_lineno)) for frame in _all_of(suspended))
    else:
        pairs = ((frame, frame.f_lineno) for frame in _running_frames(thread_id))
    yield from _without_ours(pairs)


def _all_of(suspended: Any) -> Iterator[Any]:
    """What pydevd keeps of the stack, and what is beneath it: a deep one is kept in part only."""
    frame = None
    for frame in suspended:
        yield frame
    frame = getattr(frame, "f_back", None) if suspended.exc_type is None else None
    while frame is not None:
        yield frame
        frame = frame.f_back


def _without_ours(pairs: Iterator[Frame]) -> Iterator[Frame]:
    seen_program = False
    for frame, line in pairs:
        if debugger.is_ours(frame.f_code.co_filename):
            if seen_program and frame.f_code.co_name == "_exec":
                return  # beneath this is only how the program was started
            continue
        seen_program = True
        yield frame, line or frame.f_code.co_firstlineno


def _running_frames(thread_id: str) -> Iterator[Any]:
    for known, thread in debugger.user_threads():
        if known == thread_id:
            frame = sys._current_frames().get(thread.ident)
            while frame is not None:
                yield frame
                frame = frame.f_back
            return
    raise debugger.Problem("thread", "the thread has ended")


def frame_at(db: Any, thread_id: str, depth: int) -> Any:
    """The frame `depth` levels out from the top of a suspended thread."""
    if db.suspended_frames_manager.get_frames_list(thread_id) is None:
        raise debugger.Problem("resumed", "the thread is running")
    for frame, _line in itertools.islice(iter_frames(db, thread_id), depth, depth + 1):
        return frame
    raise debugger.Problem("frame", "no frame %d in this thread" % depth)


def describe_frame(frame: Any, line: int, db: Any) -> Dict[str, Any]:
    code = frame.f_code
    shown = {
        "name": code.co_name,  # the same on every Python; only newer ones know the rest
        "file": _path(frame),
        "line": line,
        "module": str(frame.f_globals.get("__name__", "")),
    }
    qualname = getattr(code, "co_qualname", code.co_name)
    if qualname != code.co_name:
        shown["qualname"] = qualname
    if not db.in_project_scope(frame):
        shown["library"] = True
    return shown


def _path(frame: Any) -> str:
    from pydevd_file_utils import get_abs_path_real_path_and_base_from_frame

    path: str = get_abs_path_real_path_and_base_from_frame(frame)[0]
    return path


def stack(db: Any, thread_id: str, start: int, count: Optional[int]) -> Dict[str, Any]:
    frames = frames_of(db, thread_id)
    end = None if count is None else start + count
    return {
        "frames": [describe_frame(frame, line, db) for frame, line in frames[start:end]],
        "total": len(frames),
        "suspended": db.suspended_frames_manager.get_frames_list(thread_id) is not None,
    }


# -- scopes ---------------------------------------------------------------------------------------


def local_names(frame: Any) -> Dict[str, Any]:
    """A frame's locals; in a module without the names that every module has."""
    found = frame.f_locals
    if found is frame.f_globals or frame.f_code.co_name == "<module>":
        return {k: v for k, v in found.items() if k not in _MODULE_NAMES and k not in _HIDDEN}
    return {
        k: v for k, v in found.items() if k not in _HIDDEN and isinstance(k, str) and k[:1] != "."
    }


def scopes(db: Any, thread_id: str, depth: int) -> List[Dict[str, Any]]:
    frame = frame_at(db, thread_id, depth)
    named = [("Locals", local_names(frame)), ("Globals", _globals(frame))]
    return [
        {
            "name": name,
            "reference": HANDLES.add(thread_id, Scope(frame, names), name, kind="scope"),
            "count": len(names),
        }
        for name, names in named
    ]


class Scope(Dict[str, Any]):
    """A frame's names as they were, with the frame itself, so that one can be assigned."""

    def __init__(self, frame: Any, names: Dict[str, Any]) -> None:
        super().__init__(names)
        self.frame = frame


def _globals(frame: Any) -> Dict[str, Any]:
    return {k: v for k, v in frame.f_globals.items() if k != "__builtins__" and k not in _HIDDEN}


def describe_locals(
    frame: Any, owner: str, start: int, count: int, summary: bool = False
) -> Tuple[List[Dict[str, Any]], int]:
    """A page of a frame's locals, and how many there are."""
    names = local_names(frame)
    budget = bounded_calls.Budget()
    page = itertools.islice(names.items(), start, start + count)
    shown = [
        variables.describe(value, name, HANDLES, owner, summary=summary, budget=budget)
        for name, value in page
    ]
    return shown, len(names)


def forget(thread_id: str) -> None:
    HANDLES.drop(thread_id)


# -- the snapshot in a stop event -----------------------------------------------------------------


def snapshot(db: Any, thread_id: str, info: Any) -> Dict[str, Any]:
    debugger.flush_output()
    forget(thread_id)
    frames = list(itertools.islice(iter_frames(db, thread_id), _SNAPSHOT_FRAMES))
    shown: Dict[str, Any] = {
        "frames": [describe_frame(frame, line, db) for frame, line in frames],
        "threads": [
            {"id": debugger.dap_id(known), "name": thread.name}
            for known, thread in debugger.user_threads()
        ],
    }
    if frames:
        top = frames[0][0]
        shown["locals"], shown["locals_total"] = describe_locals(top, thread_id, 0, _MAX_LOCALS)
        shown["frame"] = id(top)
        shown["returned"] = _returned(top, thread_id)
    exception = _exception(db, thread_id)
    if exception:
        shown["exception"] = exception
    hit = getattr(info, "hit_breakpoint_ids", None) or ()
    shown["breakpoints"] = breakpoint_rules.hits_of(threading.get_ident(), hit)
    return shown


def _returned(frame: Any, thread_id: str) -> List[Dict[str, Any]]:
    """What the functions called since the last stop gave back."""
    found = frame.f_locals.get(_RETURNS) or {}
    budget = bounded_calls.Budget()
    shown = [
        variables.describe(value, name, HANDLES, thread_id, budget=budget)
        for name, value in found.items()
        # With settrace a function that raised seems to have returned None.
        if value is not None or sys.version_info >= (3, 12)
    ]
    found.clear()
    return shown


def _exception(db: Any, thread_id: str) -> Optional[Dict[str, Any]]:
    suspended = db.suspended_frames_manager.get_frames_list(thread_id)
    if suspended is None or suspended.exc_type is None:
        return None
    if suspended.trace_obj is not None:
        breakpoint_rules.EXCEPTIONS.note(suspended.trace_obj)
    kind = suspended.exc_type
    return {
        "type": getattr(kind, "__qualname__", str(kind)),
        "module": getattr(kind, "__module__", "builtins"),
        "message": _message(suspended.exc_desc),
    }


def _message(error: Any) -> str:
    try:
        return str(error)[:4000]
    except Exception as failure:
        return "<str raised %s>" % type(failure).__name__


def install(factory: Any) -> None:
    """Put a snapshot into both kinds of stop event (all threads stop, or only one does)."""
    from _pydevd_bundle.pydevd_net_command import NetCommand

    def with_snapshot(command: Any, db: Any, thread_id: str, thread: Any) -> Any:
        body = (command.as_dict or {}).get("body")
        if not isinstance(body, dict):
            return command
        missed_breakpoints.told(thread.ident)
        try:
            body["holdfast"] = snapshot(db, thread_id, thread.additional_info)
        except Exception as error:  # the stop itself must always be told
            body["holdfast_error"] = "%s: %s" % (type(error).__name__, error)
        return NetCommand(command.id, 0, command.as_dict, is_json=True)

    single = factory.make_thread_suspend_single_notification
    each = factory.make_thread_suspend_message

    def make_single(self: Any, db: Any, thread_id: str, thread: Any, reason: Any) -> Any:
        return with_snapshot(single(self, db, thread_id, thread, reason), db, thread_id, thread)

    def make_each(self: Any, db: Any, thread_id: str, *args: Any) -> Any:
        command = each(self, db, thread_id, *args)
        return with_snapshot(command, db, thread_id, _thread(thread_id))

    resumed = factory.make_thread_run_message

    def make_resumed(self: Any, db: Any, thread_id: str, *args: Any) -> Any:
        forget(thread_id)  # or what one looked at would be kept alive in the running program
        return resumed(self, db, thread_id, *args)

    factory.make_thread_run_message = make_resumed
    factory.make_thread_suspend_single_notification = make_single
    factory.make_thread_suspend_message = make_each


def _thread(thread_id: str) -> Any:
    for known, thread in debugger.user_threads():
        if known == thread_id:
            return thread
    return threading.current_thread()


# -- threads --------------------------------------------------------------------------------------


def threads(db: Any) -> List[Dict[str, Any]]:
    """Every thread of the program: running, or paused and where."""
    listed = []
    for thread_id, thread in debugger.user_threads():
        paused = db.suspended_frames_manager.get_frames_list(thread_id) is not None
        shown: Dict[str, Any] = {
            "id": debugger.dap_id(thread_id),
            "name": thread.name,
            "daemon": thread.daemon,
            "status": "paused" if paused else "running",
        }
        for frame, line in itertools.islice(iter_frames(db, thread_id), 1):
            place = describe_frame(frame, line, db)
            shown["location"] = {
                "file": place["file"],
                "line": place["line"],
                "function": place["name"],
            }
        info = getattr(thread, "additional_info", None)
        if paused and info is not None and getattr(info, "hit_breakpoint_ids", None):
            behind = breakpoint_rules.hits_of(thread.ident, list(info.hit_breakpoint_ids))
            missed_breakpoints.told(thread.ident)
            shown["breakpoints"] = [each["id"] for each in behind]
        listed.append(shown)
    return listed
