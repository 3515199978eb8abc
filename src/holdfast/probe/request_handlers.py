"""The handlers of our own request, by the name of the operation.

Each takes the debugger, the arguments and `reply`, which runs a function and sends what it
returns. A handler that only reads runs in the debugger's reader thread, so it works while the
program runs; one that executes the user's code runs in the suspended thread that it is for.
"""

from __future__ import annotations

import linecache
import os
import sys
from typing import Any, Callable, Dict

from . import (
    asyncio_tasks,
    bounded_calls,
    breakpoint_table,
    data_lookup,
    deadlocks,
    detachment,
    end_reports,
    evaluation,
    exception_filters,
    frames,
    gevent_support,
    live_frames,
    loaded_modules,
    output_capture,
    pydevd_patches,
    standard_streams,
    stop_snapshots,
    thread_suspension,
    timings,
    variables,
)
from .child_policy import stop_watching
from .program_order import ORDER
from .pydevd_access import (
    RequestFailed,
    dap_id,
    run_in_thread,
    suspend_alone,
    thread_id_of,
    user_threads,
)
from .server_messages import respond
from .watch_table import WATCHES

_MAX_SOURCE_BYTES = 20 * 1024 * 1024

Reply = Callable[[Callable[[], Any]], None]
Handler = Callable[[Any, Dict[str, Any], Reply], None]


def handle(db: Any, request: Dict[str, Any]) -> None:
    """Runs in pydevd's reader thread, so it must be quick or hand over."""
    arguments = request.get("arguments") or {}
    handler = _HANDLERS.get(arguments.get("op"), _unknown)
    live_frames.drop_moved(db)
    handler(db, arguments, lambda run: respond(request, run))


def _in_reader_thread(run: Callable[[Any, Dict[str, Any]], Any]) -> Handler:
    def handler(db: Any, args: Dict[str, Any], reply: Reply) -> None:
        reply(lambda: run(db, args))

    return handler


def _in_program_thread(run: Callable[[Any, str, Dict[str, Any]], Any]) -> Handler:
    def handler(db: Any, args: Dict[str, Any], reply: Reply) -> None:
        try:
            thread_id = thread_id_of(args["thread"])
            if not frames.is_suspended(db, thread_id):
                raise RequestFailed("resumed", "the thread is running")
        except RequestFailed as error:
            reply(_raiser(error))
            return

        number = _announce(db, args)

        def work() -> Any:
            return evaluation.run_interruptibly(number, lambda: run(db, thread_id, args))

        run_in_thread(db, thread_id, lambda: reply(work))

    return handler


def _announce(db: Any, args: Dict[str, Any]) -> Any:
    """What identifies an evaluation, which can be interrupted from now on."""
    number = _identify(db, args)
    evaluation.EVALUATIONS.announce(number)
    return number


def _identify(db: Any, args: Dict[str, Any]) -> Any:
    """Its number and its debugger: each server that comes counts from 1."""
    return id(db), args.get("number", object())


def _raiser(error: Exception) -> Callable[[], Any]:
    def raise_error() -> Any:
        raise error

    return raise_error


def _unknown(_db: Any, args: Dict[str, Any], reply: Reply) -> None:
    reply(_raiser(RequestFailed("internal", "no operation %r" % (args.get("op"),))))


# -- the program ----------------------------------------------------------------------------------


def _program(_db: Any, args: Dict[str, Any], reply: Reply) -> None:
    ORDER.set(args["spec"], lambda answer: reply(lambda: answer))


def _hello(_db: Any, args: Dict[str, Any]) -> Any:
    timings.use(args.get("timings", {}))
    return {
        "pid": os.getpid(),
        "ppid": os.getppid(),
        "version": list(sys.version_info[:3]),
        "executable": sys.executable,
        "argv": [str(part) for part in getattr(sys, "argv", [])],
        "cwd": os.getcwd(),
        "path": [str(part) for part in sys.path],
        "patches": pydevd_patches.APPLIED,
    }


# -- breakpoints ----------------------------------------------------------------------------------


def _breakpoints(db: Any, args: Dict[str, Any]) -> Any:
    breakpoint_table.set_lines(db, args["file"], args["breakpoints"])
    gevent_support.watch_parked_greenlets(db)
    return {}


def _functions(db: Any, args: Dict[str, Any]) -> Any:
    breakpoint_table.set_functions(db, args["breakpoints"])
    return {}


def _data_info(db: Any, args: Dict[str, Any], reply: Reply) -> None:
    """Runs in the thread itself, since finding an object may run the program's code."""
    if "reference" in args and args["reference"] is not None:
        handle = stop_snapshots.HANDLES.get(args["reference"])
        if handle is None:
            reply(_raiser(_stale_reference(args["reference"])))
            return
        owner = handle.owner

        def find_below(db: Any, thread_id: str, args: Dict[str, Any]) -> Any:
            frame = frames.frame_at(db, thread_id, 0)
            return data_lookup.find_below(handle, frame, args["name"])

        if live_frames.is_live(owner):
            reply(_raiser(RequestFailed("resumed", "the thread is not held")))
            return
        _in_program_thread(find_below)(db, dict(args, thread=dap_id(owner)), reply)
        return
    _in_program_thread(_find_data)(db, args, reply)


def _find_data(db: Any, thread_id: str, args: Dict[str, Any]) -> Any:
    frame = frames.frame_at(db, thread_id, args["depth"], args.get("mark"))
    return data_lookup.find_in_frame(frame, args["name"], bool(args.get("until")))


def _data_breakpoints(_db: Any, args: Dict[str, Any]) -> Any:
    return {"results": WATCHES.replace(args["breakpoints"])}


def _exceptions(db: Any, args: Dict[str, Any]) -> Any:
    exception_filters.set_exceptions(db, args["filters"], args["types"], args["user_code_only"])
    return {}


def _resume_thread(_db: Any, args: Dict[str, Any]) -> Any:
    """Resume one thread while the others stay suspended (DAP's own request resumes all)."""
    from _pydevd_bundle.pydevd_api import PyDevdAPI

    PyDevdAPI().request_resume_thread(thread_id_of(args["thread"]))
    return {}


def _pause_thread(db: Any, args: Dict[str, Any]) -> Any:
    """Suspend a thread that runs while others are suspended."""
    thread_id = thread_id_of(args["thread"])
    for known, thread in user_threads():
        if known == thread_id:
            suspend_alone(db, thread)
            return {}
    raise RequestFailed("thread", "the thread has ended")


# -- reading --------------------------------------------------------------------------------------


def _stack(db: Any, args: Dict[str, Any]) -> Any:
    thread_id = thread_id_of(args["thread"])
    return frames.describe_stack(db, thread_id, args.get("start", 0), args.get("count"))


def _scopes(db: Any, args: Dict[str, Any]) -> Any:
    frame, owner = live_frames.find_frame(db, thread_id_of(args["thread"]), args)
    return {"scopes": stop_snapshots.describe_scopes(frame, owner)}


def _locals(db: Any, args: Dict[str, Any]) -> Any:
    frame, owner = live_frames.find_frame(db, thread_id_of(args["thread"]), args)
    start, count, summary = args.get("start", 0), args["count"], args.get("summary", False)
    described, total = stop_snapshots.describe_locals(
        frame, owner, start, count, summary, args.get("max_chars")
    )
    return {"variables": described, "total": total}


def _variables(db: Any, args: Dict[str, Any]) -> Any:
    try:
        return variables.expand(
            stop_snapshots.HANDLES,
            args["reference"],
            args.get("start", 0),
            args.get("count"),
            summary=args.get("summary", False),
            max_chars=args.get("max_chars"),
            part=args.get("part"),
        )
    except KeyError:
        raise _stale_reference(args["reference"]) from None


def _stale_reference(reference: Any) -> RequestFailed:
    return RequestFailed("reference", "reference %s is not valid (any more)" % reference)


def _exception(db: Any, args: Dict[str, Any]) -> Any:
    suspended = db.suspended_frames_manager.get_frames_list(thread_id_of(args["thread"]))
    error = None if suspended is None else suspended.exc_desc
    if not isinstance(error, BaseException):
        raise RequestFailed("exception", "the thread is not stopped at an exception")
    return end_reports.describe_exception(error, db)


def _source(_db: Any, args: Dict[str, Any]) -> Any:
    path = args["path"]
    lines = linecache.getlines(path) if _may_be_source(path) else []
    if not lines:
        raise RequestFailed("source", "the target has no source for %s" % path)
    return {"text": "".join(lines)}


def _may_be_source(path: str) -> bool:
    """A device or a pipe is no source, and reading it might never end.

    What is no file at all may be a name that only `linecache` knows.
    """
    try:
        real = os.path.realpath(path)
        if real.startswith(("/proc/", "/sys/", "/dev/")):
            return False
        if not os.path.exists(path):
            return True
        return os.path.isfile(path) and os.path.getsize(path) <= _MAX_SOURCE_BYTES
    except (OSError, ValueError):  # such as a name with a null byte
        return False


# -- executing ------------------------------------------------------------------------------------


def _evaluate(db: Any, args: Dict[str, Any], reply: Reply) -> None:
    """Runs in the thread itself if that is held, else beside it, where it can assign nothing."""
    try:
        is_held = frames.is_suspended(db, thread_id_of(args["thread"]))
    except RequestFailed:
        is_held = True  # an unknown thread; that says so
    if is_held or args.get("mark") is None:
        _in_program_thread(_evaluate_in_thread)(db, args, reply)
    else:
        number = _announce(db, args)
        try:
            bounded_calls.start(lambda: reply(lambda: _evaluate_beside(db, number, args)))
        except bounded_calls.CallFailed as problem:  # no thread is to be had
            failure = RequestFailed("internal", problem.error)
            reply(lambda: evaluation.run_interruptibly(number, _raiser(failure)))


def _evaluate_in_thread(db: Any, thread_id: str, args: Dict[str, Any]) -> Any:
    frame = frames.frame_at(db, thread_id, args["depth"], args.get("mark"))
    return evaluation.evaluate(
        db, frame, thread_id, args["expression"], args.get("context"), **_read_shown(args)
    )


def _evaluate_beside(db: Any, number: Any, args: Dict[str, Any]) -> Any:
    def work() -> Any:
        frame, owner = live_frames.find_frame(db, thread_id_of(args["thread"]), args)
        return live_frames.evaluate(frame, owner, args["expression"], **_read_shown(args))

    return evaluation.run_interruptibly(number, work)


def _read_shown(args: Dict[str, Any]) -> Dict[str, Any]:
    """How much of the value is asked for."""
    return {name: args.get(name) for name in ("max_chars", "start", "count")}


def _watches(db: Any, thread_id: str, args: Dict[str, Any]) -> Any:
    frame = frames.frame_at(db, thread_id, 0)
    return {"values": evaluation.evaluate_watches(db, frame, thread_id, args["expressions"])}


def _assign(db: Any, args: Dict[str, Any], reply: Reply) -> None:
    """Runs in the thread that the reference belongs to."""
    handle = stop_snapshots.HANDLES.get(args["reference"])
    if handle is None:
        reply(_raiser(_stale_reference(args["reference"])))
        return

    def assign(db: Any, thread_id: str, args: Dict[str, Any]) -> Any:
        return evaluation.assign(db, thread_id, args["reference"], args["name"], args["value"])

    if live_frames.is_live(handle.owner):
        message = "the thread is not held, so its variables can only be read"
        reply(_raiser(RequestFailed("resumed", message, possible=["evaluate"])))
        return
    thread = dap_id(handle.owner)
    _in_program_thread(assign)(db, dict(args, thread=thread), reply)


def _completions(db: Any, thread_id: str, args: Dict[str, Any]) -> Any:
    frame = frames.frame_at(db, thread_id, args["depth"], args.get("mark"))
    return {"targets": evaluation.find_completions(db, frame, args["text"])}


def _interrupt(db: Any, args: Dict[str, Any]) -> Any:
    return {"interrupted": evaluation.EVALUATIONS.interrupt(_identify(db, args))}


# -- detaching ------------------------------------------------------------------------------------


def _disarm(db: Any, _args: Dict[str, Any]) -> Any:
    thread_suspension.disarm(db)
    output_capture.stop()
    detachment.clear_breakpoints(db)
    stop_watching()
    return {}


def _stop_tracing(db: Any, _args: Dict[str, Any]) -> Any:
    """The last request: what follows is the end of the connection."""
    detachment.stop_tracing_everywhere(db)
    return {}


_HANDLERS: Dict[Any, Handler] = {
    "program": _program,
    "hello": _in_reader_thread(_hello),
    "breakpoints": _in_reader_thread(_breakpoints),
    "functions": _in_reader_thread(_functions),
    "data_info": _data_info,
    "data_breakpoints": _in_reader_thread(_data_breakpoints),
    "exceptions": _in_reader_thread(_exceptions),
    "hits": _in_reader_thread(lambda db, args: breakpoint_table.all_hits()),
    "threads": _in_reader_thread(lambda db, args: {"threads": stop_snapshots.describe_threads(db)}),
    "resume_thread": _in_reader_thread(_resume_thread),
    "pause_thread": _in_reader_thread(_pause_thread),
    "stack": _in_reader_thread(_stack),
    "scopes": _in_reader_thread(_scopes),
    "locals": _in_reader_thread(_locals),
    "variables": _in_reader_thread(_variables),
    "tasks": _in_reader_thread(lambda db, args: {"tasks": asyncio_tasks.list_tasks()}),
    "deadlocks": _in_reader_thread(lambda db, args: deadlocks.describe_deadlocks(db)),
    "source": _in_reader_thread(_source),
    "modules": _in_reader_thread(lambda db, args: {"modules": loaded_modules.list_modules(db)}),
    "exception": _in_reader_thread(_exception),
    "evaluate": _evaluate,
    "watches": _in_program_thread(_watches),
    "assign": _assign,
    "completions": _in_program_thread(_completions),
    "interrupt": _in_reader_thread(_interrupt),
    "disarm": _in_reader_thread(_disarm),
    "disconnect_pipes": _in_reader_thread(lambda db, args: standard_streams.disconnect_pipes()),
    "stop_tracing": _in_reader_thread(_stop_tracing),
}
