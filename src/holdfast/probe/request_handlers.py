"""The operations behind our one request, by name.

Each takes the debugger, the arguments and `reply`, which runs a function and sends what it
returns. What only looks runs at once in the debugger's reader thread, so it works while the
program runs; what executes the user's code runs in the suspended thread it belongs to.
"""

from __future__ import annotations

import linecache
import os
import sys
from typing import Any, Callable, Dict

from . import (
    asyncio_tasks,
    breakpoint_rules,
    debugger,
    evaluation,
    pydevd_patches,
    standard_streams,
    stop_snapshots,
    variables,
)

Reply = Callable[[Callable[[], Any]], None]
Operation = Callable[[Any, Dict[str, Any], Reply], None]
TABLE: Dict[Any, Operation] = {}


def unknown(name: Any) -> Any:
    raise debugger.Problem("internal", "no operation %r" % (name,))


def _looks(run: Callable[[Any, Dict[str, Any]], Any]) -> Operation:
    def operation(db: Any, args: Dict[str, Any], reply: Reply) -> None:
        reply(lambda: run(db, args))

    return operation


def _executes(run: Callable[[Any, str, Dict[str, Any]], Any]) -> Operation:
    def operation(db: Any, args: Dict[str, Any], reply: Reply) -> None:
        try:
            thread_id = debugger.thread_id_of(args["thread"])
            if db.suspended_frames_manager.get_frames_list(thread_id) is None:
                raise debugger.Problem("resumed", "the thread is running")
        except debugger.Problem as problem:
            failure = problem
            reply(lambda: _raise(failure))
            return
        work = lambda: evaluation.run(thread_id, lambda: run(db, thread_id, args))  # noqa: E731
        debugger.in_thread(db, thread_id, lambda: reply(work))

    return operation


def _raise(problem: Exception) -> Any:
    raise problem


# -- the program ----------------------------------------------------------------------------------


def _program(db: Any, args: Dict[str, Any], reply: Reply) -> None:
    from . import program_runner

    program_runner.ORDER.give(args["spec"], lambda answer: reply(lambda: answer))


def _hello(_db: Any, _args: Dict[str, Any]) -> Any:
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
    breakpoint_rules.set_lines(db, args["file"], args["breakpoints"])
    return {}


def _functions(db: Any, args: Dict[str, Any]) -> Any:
    breakpoint_rules.set_functions(db, args["breakpoints"])
    return {}


def _exceptions(db: Any, args: Dict[str, Any]) -> Any:
    breakpoint_rules.set_exceptions(db, args["filters"], args["types"], args["user_code_only"])
    return {}


def _resume_thread(_db: Any, args: Dict[str, Any]) -> Any:
    """Let one thread run on while the others stay held (DAP's own way resumes them all)."""
    from _pydevd_bundle.pydevd_api import PyDevdAPI

    PyDevdAPI().request_resume_thread(debugger.thread_id_of(args["thread"]))
    return {}


# -- looking --------------------------------------------------------------------------------------


def _stack(db: Any, args: Dict[str, Any]) -> Any:
    thread_id = debugger.thread_id_of(args["thread"])
    return stop_snapshots.stack(db, thread_id, args.get("start", 0), args.get("count"))


def _scopes(db: Any, args: Dict[str, Any]) -> Any:
    return {
        "scopes": stop_snapshots.scopes(db, debugger.thread_id_of(args["thread"]), args["depth"])
    }


def _locals(db: Any, args: Dict[str, Any]) -> Any:
    thread_id = debugger.thread_id_of(args["thread"])
    frame = stop_snapshots.frame_at(db, thread_id, args["depth"])
    start, count, summary = args.get("start", 0), args["count"], args.get("summary", False)
    found, total = stop_snapshots.describe_locals(frame, thread_id, start, count, summary)
    return {"variables": found, "total": total}


def _variables(db: Any, args: Dict[str, Any]) -> Any:
    try:
        return variables.expand(
            stop_snapshots.HANDLES,
            args["reference"],
            args.get("start", 0),
            args.get("count", 100),
            summary=args.get("summary", False),
        )
    except KeyError:
        raise _stale(args["reference"]) from None


def _stale(reference: Any) -> debugger.Problem:
    return debugger.Problem("reference", "reference %s is not valid (any more)" % reference)


def _source(_db: Any, args: Dict[str, Any]) -> Any:
    path = args["path"]
    # A device or a pipe is no source, and reading it might never end.
    readable = "\0" not in path and (os.path.isfile(path) or not os.path.exists(path))
    lines = linecache.getlines(path) if readable else []
    if not lines:
        raise debugger.Problem("source", "the target has no source for %s" % path)
    return {"text": "".join(lines)}


# -- executing ------------------------------------------------------------------------------------


def _evaluate(db: Any, thread_id: str, args: Dict[str, Any]) -> Any:
    return evaluation.evaluate(
        db, thread_id, args["depth"], args["expression"], args.get("context")
    )


def _assign(db: Any, args: Dict[str, Any], reply: Reply) -> None:
    """The reference itself says in which thread it lives."""
    handle = stop_snapshots.HANDLES.get(args["reference"])
    if handle is None:
        reply(lambda: _raise(_stale(args["reference"])))
        return

    def assign(db: Any, thread_id: str, args: Dict[str, Any]) -> Any:
        return evaluation.assign(db, thread_id, args["reference"], args["name"], args["value"])

    thread = debugger.dap_id(handle.owner)
    _executes(assign)(db, dict(args, thread=thread), reply)


def _completions(db: Any, thread_id: str, args: Dict[str, Any]) -> Any:
    return {"targets": evaluation.completions(db, thread_id, args["depth"], args["text"])}


def _interrupt(_db: Any, args: Dict[str, Any]) -> Any:
    if "thread" in args:
        thread_id = debugger.thread_id_of(args["thread"])
    else:
        handle = stop_snapshots.HANDLES.get(args["reference"])
        if handle is None:
            raise _stale(args["reference"])
        thread_id = handle.owner
    return {"interrupted": evaluation.RUNNING.interrupt(thread_id)}


def _forget(db: Any, _args: Dict[str, Any]) -> Any:
    from . import process_hooks

    breakpoint_rules.clear(db)
    process_hooks.unwatch()
    return {}


def _free(db: Any, _args: Dict[str, Any]) -> Any:
    """The last request: what follows is the end of the connection."""
    from . import detachment

    detachment.everywhere(db)
    return {}


TABLE.update(
    {
        "forget": _looks(_forget),
        "free": _looks(_free),
        "program": _program,
        "hello": _looks(_hello),
        "breakpoints": _looks(_breakpoints),
        "functions": _looks(_functions),
        "exceptions": _looks(_exceptions),
        "hits": _looks(lambda db, args: breakpoint_rules.all_hits()),
        "threads": _looks(lambda db, args: {"threads": stop_snapshots.threads(db)}),
        "resume_thread": _looks(_resume_thread),
        "let_go": _looks(lambda db, args: standard_streams.let_go()),
        "stack": _looks(_stack),
        "scopes": _looks(_scopes),
        "locals": _looks(_locals),
        "variables": _looks(_variables),
        "tasks": _looks(lambda db, args: {"tasks": asyncio_tasks.listing()}),
        "source": _looks(_source),
        "evaluate": _executes(_evaluate),
        "assign": _assign,
        "completions": _executes(_completions),
        "interrupt": _looks(_interrupt),
    }
)
