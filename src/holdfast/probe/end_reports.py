"""What the server is told when the program ends: the exception that ended it, and what was hit.

An uncaught exception is described before it is printed, while its frames still hold their
variables. The description is plain text, bounded in size and time: nothing of the program is kept
alive, and the program prints and exits as it would without us.
"""

from __future__ import annotations

import collections
import itertools
import sys
from typing import Any, Deque, Dict, Iterator, List, Optional, Tuple

from . import bounded_calls, breakpoint_table, introspection, timings, variables
from .exception_facts import iter_related, read_message, read_notes, read_traceback
from .exception_filters import silenced, stop_at_crash
from .frames import describe_frame, read_locals
from .pydevd_access import current, is_detached, is_ours
from .server_messages import flush, report

_MAX_CAUSES = 10
_MAX_FRAMES = 20  # of the exception itself
_MAX_CAUSE_FRAMES = 5
_MAX_OUTERMOST = 3  # of these, so that the place where it all began is shown
_MAX_LOCALS = 50
_MAX_CAUSE_LOCALS = 20

Entry = Tuple[Any, int, int]  # a frame, its line, and its distance from the outermost frame
Described = Dict[str, Any]


# -- sending --------------------------------------------------------------------------------------


def report_exception(error: BaseException) -> None:
    """Send what ended the program. Whatever goes wrong here must not change how it ends."""
    try:
        db = current()
        if db is None or is_detached(db) or _is_good_exit(error) or _is_runners_exit(error, db):
            return
        with silenced():
            report("exception", exception=_describe_as_possible(error, db))
            # The program's own hook may end the process at once.
            flush()
    except BaseException:  # memory may be short, or a Ctrl-C comes late
        pass


def report_counts() -> None:
    """Send how often each breakpoint was hit, and which expressions raised."""
    report("counts", **breakpoint_table.describe_counts())


def report_sudden_end() -> None:
    """Send the counts before the program ends itself with `os._exit`.

    A helper does it, in a limited time: the caller may be a signal handler that has interrupted
    the sending of another message.
    """
    try:
        db = current()
        if db is not None and not is_detached(db):
            bounded_calls.call(_send_counts, timings.TIMINGS.messages_sent)
    except BaseException:  # it must end, whatever goes wrong here
        pass


def _send_counts() -> None:
    report_counts()
    flush()


def report_counts_at_end(db: Any) -> None:
    """Report them when pydevd sees that no thread of the program is left."""
    original = db.dispose_and_kill_all_pydevd_threads

    def dispose(*args: Any, **kwargs: Any) -> Any:
        if not db.pydb_disposed and not is_detached(db):
            report_counts()
        return original(*args, **kwargs)

    db.dispose_and_kill_all_pydevd_threads = dispose


def _is_good_exit(error: BaseException) -> bool:
    if not issubclass(type(error), SystemExit):
        return False
    code = vars(SystemExit)["code"].__get__(error)
    return code is None or (issubclass(type(code), int) and int.__and__(code, 0xFF) == 0)


def _is_runners_exit(error: BaseException, db: Any) -> bool:
    """Whether a library that runs the program ends it: pytest, unittest. That is no crash."""
    if not issubclass(type(error), SystemExit):
        return False
    is_users = _UserCode(db)
    trace = read_traceback(error)
    return not any(is_users(frame) for frame, _line in _iter_trace(trace, is_users))


# -- a process that we attached to ----------------------------------------------------------------


class _AttachedEnd:
    """The hooks in a program that was started without us, to be told of its end."""

    hook: Any = None
    original: Any = None


def watch_end(db: Any) -> None:
    """Report the end of a program that does not run beneath `program_runner`."""
    report_counts_at_end(db)
    if _AttachedEnd.hook is not None and sys.excepthook is _AttachedEnd.hook:
        return
    original = sys.excepthook

    def excepthook(kind: Any, error: Any, trace: Any) -> Any:
        # Only the interpreter itself, at the very end, calls it without a caller.
        if sys._getframe().f_back is None and not hasattr(sys, "ps1"):
            if sys.version_info < (3, 12):  # newer ones stop before the stack is gone
                stop_at_crash(error, trace)
            report_exception(error)
        return original(kind, error, trace)

    _AttachedEnd.hook, _AttachedEnd.original = excepthook, original
    sys.excepthook = excepthook


def stop_watching_end() -> None:
    """Leave the program as it was."""
    hook, _AttachedEnd.hook = _AttachedEnd.hook, None
    if hook is not None and sys.excepthook is hook:  # else the program has put its own around it
        sys.excepthook = _AttachedEnd.original


# -- describing -----------------------------------------------------------------------------------


def describe_exception(error: BaseException, db: Any) -> Described:
    """An exception that the program is stopped at, with its frames and what led to it."""
    with silenced():
        return _describe_as_possible(error, db)


def _describe_as_possible(error: BaseException, db: Any) -> Described:
    """All there is to say; less of it where memory or the stack is too short for that."""
    for max_frames in (_MAX_FRAMES, 1):
        try:
            return _describe(error, db, max_frames)
        except Exception:
            continue
    return {"type": introspection.type_name(type(error)), "module": "builtins", "message": ""}


def _describe(error: BaseException, db: Any, max_frames: int) -> Described:
    budget = bounded_calls.Budget()
    described = _describe_one(error, db, budget, max_frames, _MAX_LOCALS)
    described["causes"] = _describe_causes(error, db, budget)
    return described


def _describe_causes(
    error: BaseException, db: Any, budget: bounded_calls.Budget
) -> List[Described]:
    """What led to it, nearest first; an exception that leads to itself is described once."""
    causes: List[Described] = []
    seen = {id(error)}
    waiting: Deque[Tuple[BaseException, int]] = collections.deque([(error, 0)])
    while waiting:
        current_error, number = waiting.popleft()
        for relation, other in iter_related(current_error):
            if id(other) in seen:
                continue
            if len(causes) == _MAX_CAUSES:
                return causes
            seen.add(id(other))
            cause = _describe_one(other, db, budget, _MAX_CAUSE_FRAMES, _MAX_CAUSE_LOCALS)
            causes.append(dict(cause, relation=relation, of=number))
            waiting.append((other, len(causes)))
    return causes


def _describe_one(
    error: BaseException,
    db: Any,
    budget: bounded_calls.Budget,
    max_frames: int,
    max_locals: int,
) -> Described:
    cls = type(error)
    module = introspection.find_in_mro(cls, "__module__")[1]
    described: Described = {
        "type": introspection.type_name(cls),
        "module": module if type(module) is str else "builtins",
        "message": read_message(error, budget),
    }
    notes = read_notes(error)
    if notes:
        described["notes"] = notes
    trace = read_traceback(error)
    described.update(_describe_trace(trace, db, budget, max_frames, max_locals))
    return described


# -- frames ---------------------------------------------------------------------------------------


def _describe_trace(
    trace: Any, db: Any, budget: bounded_calls.Budget, max_frames: int, max_locals: int
) -> Described:
    """The frames: the nearest one of the user's own with its locals, then the others."""
    is_users = _UserCode(db)
    outermost: List[Entry] = []
    innermost: Deque[Entry] = collections.deque(maxlen=max_frames)
    nearest: Optional[Entry] = None
    total = 0
    for frame, line in _iter_trace(trace, is_users):
        entry = (frame, line, total)
        innermost.append(entry)
        if total < _MAX_OUTERMOST:
            outermost.append(entry)
        if is_users(frame):
            nearest = entry
        total += 1
    frames = []
    for entry in _choose_frames(nearest, list(innermost), outermost, max_frames):
        frame, line, place = entry
        described = describe_frame(frame, line or frame.f_code.co_firstlineno, db)
        if is_users(frame):
            described.pop("library", None)
        described["depth"] = total - 1 - place
        if entry is nearest:
            described.update(_describe_locals(frame, budget, max_locals))
        frames.append(described)
    return {"frames": frames, "frames_total": total}


def _iter_trace(trace: Any, is_users: _UserCode) -> Iterator[Tuple[Any, int]]:
    """The program's frames, outermost first. There may be a million, if a recursion ended it.

    What the debugger calls in a library is not the program's: a recursion may end in there.
    """
    has_begun = is_debugger = False
    while trace is not None:
        frame = trace.tb_frame
        if is_ours(frame.f_code.co_filename):
            is_debugger = has_begun
        elif not is_debugger or is_users(frame):
            has_begun, is_debugger = True, False
            yield frame, trace.tb_lineno
        trace = trace.tb_next


def _choose_frames(
    nearest: Optional[Entry], innermost: List[Entry], outermost: List[Entry], max_frames: int
) -> List[Entry]:
    chosen = [] if nearest is None else [nearest]
    places = {entry[2] for entry in chosen}
    ends = [entry for entry in outermost if entry[2] < innermost[0][2]] if innermost else []
    inner = innermost[len(ends) + (nearest is not None and nearest[2] < innermost[0][2]) :]
    for entry in itertools.chain(reversed(inner), reversed(ends)):
        if entry[2] not in places:
            places.add(entry[2])
            chosen.append(entry)
    return chosen[:max_frames]


class _UserCode:
    """Which frames are of the user's own code; asked once for each file."""

    def __init__(self, db: Any) -> None:
        self._db = db
        self._known: Dict[Tuple[str, bool], bool] = {}

    def __call__(self, frame: Any) -> bool:
        file = frame.f_code.co_filename
        is_main = frame.f_globals.get("__name__") == "__main__"
        key = (file, is_main)
        if key not in self._known:
            # The code of `python -c` has no file, and is the user's all the same.
            is_typed = is_main and file[:1] == "<" and not file.startswith("<frozen")
            self._known[key] = is_typed or bool(self._db.in_project_scope(frame))
        return self._known[key]


def _describe_locals(frame: Any, budget: bounded_calls.Budget, max_locals: int) -> Described:
    try:
        names = read_locals(frame)
        handles = variables.Handles()
        described = [
            _drop_references(variables.describe(value, name, handles, "", budget=budget))
            for name, value in itertools.islice(names.items(), max_locals)
        ]
    except Exception:  # memory is short; where it happened can still be told
        return {}
    return {"locals": described, "locals_total": len(names)}


def _drop_references(described: Described) -> Described:
    """Nothing can be unfolded any more: the program is about to end."""
    for name in ("variable_reference", "reference", "expandable"):
        described.pop(name, None)
    return described
