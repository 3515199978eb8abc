"""A snapshot inside every stop event: location, stack top, locals.

So the server knows everything about a stop without another request.
"""

from __future__ import annotations

import itertools
import sys
import threading
from typing import Any, Dict, List, Optional, Tuple

from . import bounded_calls, data_stops, missed_breakpoints, variables
from .breakpoint_rules import take_failed_condition
from .breakpoint_table import has_functions_only, hits_of
from .data_places import PLACES
from .exception_filters import FILTERS
from .frames import (
    RETURNED_VALUES,
    describe_frame,
    is_suspended,
    iter_frames,
    read_globals,
    read_locals,
)
from .pydevd_access import dap_id, user_threads
from .server_messages import flush_output
from .watch_table import WATCHES

HANDLES = variables.Handles()
_MAX_SNAPSHOT_FRAMES = 20
_MAX_LOCALS = 200
_MAX_MESSAGE_CHARACTERS = 4000


# -- references -----------------------------------------------------------------------------------


def drop_references(thread_id: str) -> None:
    HANDLES.drop(thread_id)


def reset_references() -> None:
    """Forget every reference, for a new debugger in a forked child."""
    global HANDLES
    HANDLES = variables.Handles()


# -- scopes ---------------------------------------------------------------------------------------


def describe_scopes(frame: Any, owner: str) -> List[Dict[str, Any]]:
    named = [("Locals", read_locals(frame)), ("Globals", read_globals(frame))]
    return [
        {
            "name": name,
            "reference": HANDLES.add(owner, Scope(frame, names), name, kind="scope", made_of=frame),
            "count": len(names),
        }
        for name, names in named
    ]


class Scope(Dict[str, Any]):
    """A frame's names as they were, with the frame itself, so that one can be assigned."""

    def __init__(self, frame: Any, names: Dict[str, Any]) -> None:
        super().__init__(names)
        self.frame = frame


def describe_locals(
    frame: Any,
    owner: str,
    start: int,
    count: int,
    summary: bool = False,
    max_chars: Optional[int] = None,
) -> Tuple[List[Dict[str, Any]], int]:
    """A page of a frame's locals, and how many there are."""
    names = read_locals(frame)
    page = list(names.items())[start : start + count]
    return variables.describe_all(page, HANDLES, owner, summary, max_chars), len(names)


# -- the snapshot in a stop event -----------------------------------------------------------------


def take_snapshot(db: Any, thread_id: str, info: Any) -> Dict[str, Any]:
    flush_output()
    drop_references(thread_id)
    data_stops.show_line(db, thread_id)
    frames = list(itertools.islice(iter_frames(db, thread_id), _MAX_SNAPSHOT_FRAMES))
    snapshot: Dict[str, Any] = {
        "frames": [describe_frame(frame, line, db) for frame, line in frames],
        "threads": [
            {"id": dap_id(known_id), "name": thread.name, "ident": thread.ident}
            for known_id, thread in user_threads()
        ],
    }
    if frames:
        top = frames[0][0]
        local_variables, total = describe_locals(top, thread_id, 0, _MAX_LOCALS)
        snapshot["locals"], snapshot["locals_total"] = local_variables, total
        snapshot["frame"] = id(top)
        snapshot["returned"] = _describe_returned(top, thread_id)
    exception = _describe_exception(db, thread_id)
    if exception:
        snapshot["exception"] = exception
    hit_ids = list(getattr(info, "hit_breakpoint_ids", None) or ())
    hit_ids += _describe_data(snapshot, frames[0][0] if frames else None, hit_ids)
    snapshot["breakpoints"] = hits = hits_of(threading.get_ident(), hit_ids)
    failure = take_failed_condition(threading.get_ident(), [hit["id"] for hit in hits])
    if failure is not None:
        snapshot["condition_error"] = failure
    return snapshot


def _describe_data(snapshot: Dict[str, Any], top: Any, known_ids: List[int]) -> List[int]:
    """Add what a data breakpoint has seen; returns the ids that nobody has told of yet."""
    if top is not None and not WATCHES.is_empty():
        WATCHES.collect(top)
    report = data_stops.take_report()
    if report is None:
        return []
    snapshot["data"] = data_stops.describe(report)
    data_stops.forget_report()
    return [hit.id for hit in report.hits if hit.id not in known_ids]


def _describe_returned(frame: Any, thread_id: str) -> List[Dict[str, Any]]:
    """What the functions called since the last stop returned."""
    returned = frame.f_locals.get(RETURNED_VALUES) or {}
    budget = bounded_calls.Budget()
    described = [
        variables.describe(value, name, HANDLES, thread_id, budget=budget)
        for name, value in returned.items()
        # With settrace a function that raised seems to have returned None.
        if value is not None or sys.version_info >= (3, 12)
    ]
    returned.clear()
    return described


def _describe_exception(db: Any, thread_id: str) -> Optional[Dict[str, Any]]:
    suspended = db.suspended_frames_manager.get_frames_list(thread_id)
    if suspended is None or suspended.exc_type is None:
        return None
    if suspended.trace_obj is not None:
        FILTERS.note_stop(suspended.trace_obj)
    kind = suspended.exc_type
    return {
        "type": getattr(kind, "__qualname__", str(kind)),
        "module": getattr(kind, "__module__", "builtins"),
        "message": _exception_message(suspended.exc_desc),
    }


def _exception_message(error: Any) -> str:
    try:
        return str(error)[:_MAX_MESSAGE_CHARACTERS]
    except Exception as failure:
        return "<str raised %s>" % type(failure).__name__


def install(factory: Any) -> None:
    """Put a snapshot into both kinds of stop event (all threads stop, or only one does)."""
    from _pydevd_bundle.pydevd_net_command import NetCommand

    def with_snapshot(command: Any, db: Any, thread_id: str, thread: Any) -> Any:
        body = (command.as_dict or {}).get("body")
        if not isinstance(body, dict):
            return command
        missed_breakpoints.mark_reported(thread.ident)
        try:
            body["holdfast"] = snapshot = take_snapshot(db, thread_id, thread.additional_info)
            if body.get("reason") == "breakpoint" and has_functions_only(snapshot["breakpoints"]):
                body["reason"] = "function breakpoint"  # where a line stands for a generator
        except Exception as error:  # the stop itself must always be sent
            body["holdfast_error"] = "%s: %s" % (type(error).__name__, error)
        return NetCommand(command.id, 0, command.as_dict, is_json=True)

    single = factory.make_thread_suspend_single_notification
    message = factory.make_thread_suspend_message

    def make_single(self: Any, db: Any, thread_id: str, thread: Any, reason: Any) -> Any:
        return with_snapshot(single(self, db, thread_id, thread, reason), db, thread_id, thread)

    def make_message(self: Any, db: Any, thread_id: str, *args: Any) -> Any:
        command = message(self, db, thread_id, *args)
        return with_snapshot(command, db, thread_id, _find_thread(thread_id))

    resumed = factory.make_thread_run_message

    def make_resumed(self: Any, db: Any, thread_id: str, *args: Any) -> Any:
        drop_references(thread_id)  # or they would keep values alive in the running program
        PLACES.release()
        return resumed(self, db, thread_id, *args)

    created = factory.make_thread_created_message

    def make_created(self: Any, thread: Any) -> Any:
        command = created(self, thread)
        body = (command.as_dict or {}).get("body")
        if isinstance(body, dict):
            body["ident"] = thread.ident  # what the thread is called outside the debugger
            command = NetCommand(command.id, 0, command.as_dict, is_json=True)
        return command

    factory.make_thread_created_message = make_created
    factory.make_thread_run_message = make_resumed
    factory.make_thread_suspend_single_notification = make_single
    factory.make_thread_suspend_message = make_message


def _find_thread(thread_id: str) -> Any:
    for known, thread in user_threads():
        if known == thread_id:
            return thread
    return threading.current_thread()


# -- threads --------------------------------------------------------------------------------------


def describe_threads(db: Any) -> List[Dict[str, Any]]:
    """Every thread of the program: running, or paused and where."""
    threads = []
    for thread_id, thread in user_threads():
        paused = is_suspended(db, thread_id)
        described: Dict[str, Any] = {
            "id": dap_id(thread_id),
            "name": thread.name,
            "ident": thread.ident,
            "daemon": thread.daemon,
            "status": "paused" if paused else "running",
        }
        for frame, line in itertools.islice(iter_frames(db, thread_id), 1):
            top = describe_frame(frame, line, db)
            described["location"] = {
                "file": top["file"],
                "line": top["line"],
                "function": top["name"],
            }
        info = getattr(thread, "additional_info", None)
        if paused and info is not None and getattr(info, "hit_breakpoint_ids", None):
            hits = hits_of(thread.ident, list(info.hit_breakpoint_ids))
            missed_breakpoints.mark_reported(thread.ident)
            described["breakpoints"] = [hit["id"] for hit in hits]
        threads.append(described)
    return threads
