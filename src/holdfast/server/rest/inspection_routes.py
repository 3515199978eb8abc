"""Looking into a paused program: stack, scopes, variables, expressions, threads, tasks, source."""

from __future__ import annotations

import os
import re
from typing import Annotated, Any

from fastapi import Query

from holdfast import errors
from holdfast.model.config import Watch
from holdfast.model.session import State
from holdfast.server.rest import bodies
from holdfast.server.rest.shared import AnySession, Json, ServiceHere, SessionHere, router, shows
from holdfast.service import inspection
from holdfast.service.agents.session import AgentSession
from holdfast.service.calls.call_session import CallSession
from holdfast.service.programs.program_session import ProgramSession
from holdfast.wire import rest

routes = router()
Start = Annotated[int | None, Query(ge=0)]
Count = Annotated[int | None, Query(ge=0, le=100_000)]
_FRAME = {"id": 0, "name": "main", "file": "/code/main.py", "line": 10, "function": "main"}
_STACK = {"frames": [_FRAME], "total": 1, "has_more": False, "thread_id": 1}
_VARIABLE = {
    "name": "x",
    "value": "42",
    "type": "int",
    "expandable": False,
    "variable_reference": 0,
    "reference": 0,
}
_VARIABLES = {"variables": [_VARIABLE]}
_ITEMS = {
    "items": [{"index": 0, "name": "0", "value": "7", "type": "int"}],
    "total": 1000000,
    "has_more": True,
}
_PAGE = 100


def _page(start: int | None, offset: int | None, count: int | None, limit: int | None) -> Any:
    first = start if start is not None else offset
    most = count if count is not None else limit
    return first or 0, most


# -- the stack ------------------------------------------------------------------------------------


async def _stack(
    session: ProgramSession, thread: int | None, start: int, count: int | None
) -> Json:
    page = await inspection.stack(session, thread, start, count)
    return {
        "frames": [rest.frame(each) for each in page.frames],
        "total": page.total,
        "start": page.start,
        "has_more": page.has_more,
        "thread_id": page.thread_id,
    }


@routes.get("/sessions/{session_id}/stacktrace", responses=shows(_STACK))
async def stacktrace(
    session: SessionHere,
    start: Start = None,
    count: Count = None,
    offset: Start = None,
    limit: Count = None,
    thread_id: Annotated[int | None, Query()] = None,
) -> Json:
    """The stack of the thread that stopped, innermost first, a page at a time."""
    first, most = _page(start, offset, count, limit)
    return await _stack(session, thread_id, first, most)


@routes.get("/sessions/{session_id}/threads/{thread_id}/stacktrace", responses=shows(_STACK))
async def thread_stacktrace(
    session: SessionHere,
    thread_id: int,
    start: Start = None,
    count: Count = None,
    offset: Start = None,
    limit: Count = None,
) -> Json:
    """The stack of one thread; of a running one, where it is at this moment."""
    first, most = _page(start, offset, count, limit)
    return await _stack(session, thread_id, first, most)


_THREADS = {"threads": [{"thread_id": 1, "id": 1, "name": "MainThread", "status": "paused"}]}


@routes.get("/sessions/{session_id}/threads", responses=shows(_THREADS))
async def threads(session: SessionHere) -> Json:
    """Every thread: held or running, and where."""
    return {"threads": [rest.thread(each) for each in await inspection.threads(session)]}


_TASKS = {
    "tasks": [
        {
            "name": "Task-2",
            "coroutine": "fetch",
            "state": "waiting",
            "location": {"file": "/code/main.py", "line": 7, "function": "fetch"},
            "waiting_for": {"kind": "future", "call": "asyncio.sleep", "type": "Future"},
        }
    ]
}


@routes.get("/sessions/{session_id}/tasks", responses=shows(_TASKS))
async def tasks(session: SessionHere) -> Json:
    """The asyncio tasks: where each stands and what it waits for."""
    found = await inspection.tasks(session)
    return {"tasks": found, "total": len(found)}


# -- variables ------------------------------------------------------------------------------------


@routes.get(
    "/sessions/{session_id}/frames/{frame_id}/scopes",
    responses=shows({"scopes": [{"name": "Locals", "reference": 1000}]}),
)
async def scopes(session: SessionHere, frame_id: int) -> Json:
    """The scopes of a frame: Locals and Globals."""
    found = await inspection.scopes(session, frame_id)
    return {"scopes": [{**each, "variable_reference": each["reference"]} for each in found]}


@routes.get("/sessions/{session_id}/frames/{frame_id}/variables", responses=shows(_VARIABLES))
async def frame_variables(
    session: SessionHere,
    frame_id: int,
    summary: bool = False,
    start: Start = None,
    count: Count = None,
    offset: Start = None,
    limit: Count = None,
) -> Json:
    """The local variables of a frame; with `summary`, types and sizes only."""
    first, most = _page(start, offset, count, limit)
    page = await inspection.frame_variables(
        session, frame_id, start=first, count=1000 if most is None else most, summary=summary
    )
    return {"variables": page.items, "total": page.total, "has_more": page.has_more}


@routes.get("/sessions/{session_id}/scopes/{reference}/variables", responses=shows(_VARIABLES))
async def scope_variables(
    session: SessionHere,
    reference: int,
    summary: bool = False,
    start: Start = None,
    count: Count = None,
    offset: Start = None,
    limit: Count = None,
) -> Json:
    """The variables of a scope."""
    first, most = _page(start, offset, count, limit)
    page = await inspection.variables(
        session, reference, first, 1000 if most is None else most, summary=summary
    )
    return {"variables": page["items"], "total": page["total"], "has_more": page["has_more"]}


async def _children(session: ProgramSession, reference: int, first: int, most: int | None) -> Json:
    page = await inspection.variables(session, reference, first, _PAGE if most is None else most)
    return {**page, "start": first, "variable_reference": reference}


@routes.get("/sessions/{session_id}/variables/{reference}", responses=shows(_ITEMS))
async def expand_variable(
    session: SessionHere,
    reference: int,
    start: Start = None,
    count: Count = None,
    offset: Start = None,
    limit: Count = None,
) -> Json:
    """A page of what a value holds; a million items cost no more than a few."""
    first, most = _page(start, offset, count, limit)
    return await _children(session, reference, first, most)


@routes.get(
    "/sessions/{session_id}/frames/{frame_id}/variables/{reference}/children",
    responses=shows(_ITEMS),
)
async def expand_frame_variable(
    session: SessionHere,
    frame_id: int,
    reference: str,
    start: Start = None,
    count: Count = None,
    offset: Start = None,
    limit: Count = None,
) -> Json:
    """As `/variables/{reference}`; a local may also be named."""
    first, most = _page(start, offset, count, limit)
    if reference.isdecimal():
        session.frame(frame_id)
        return await _children(session, int(reference), first, most)
    found = await inspection.frame_variables(session, frame_id, count=1_000_000, summary=True)
    for each in found.items:
        if each["name"] == reference:
            if not each["variable_reference"]:
                return {"items": [], "total": 0, "has_more": False, "start": first}
            return await _children(session, each["variable_reference"], first, most)
    raise errors.ReferenceNotFound(f"no local {reference!r} in frame {frame_id}", name=reference)


@routes.post("/sessions/{session_id}/variables/{reference}/set", responses=shows(_VARIABLE))
async def set_variable(session: SessionHere, reference: int, body: bodies.SetVariable) -> Json:
    """Give a variable of a scope, or a part of a value, a new value (a Python expression)."""
    shown = await inspection.set_variable(session, reference, body.name, body.value, body.timeout)
    session.event("variable_set", name=body.name, value=shown.get("value"))
    return shown


# -- expressions ----------------------------------------------------------------------------------


@routes.post(
    "/sessions/{session_id}/evaluate",
    responses=shows({"result": "84", "type": "int", "variable_reference": 0}),
)
async def evaluate(
    service: ServiceHere, session: AnySession, body: bodies.EvaluateAnywhere
) -> Json:
    """Evaluate an expression (in a REPL, run a statement) in a frame of the paused program.

    In a session of calls: in the frame of whoever makes the held call."""
    if isinstance(session, AgentSession):
        session = service.session(session.id)  # which says that it is none
    if isinstance(session, CallSession):
        hold_id = body.hold_id or service.calls.the_hold(session.id)
        return await service.calls.evaluate(hold_id, body.expression, body.timeout)
    return await inspection.evaluate(
        session, body.expression, body.frame_id, body.context, body.timeout
    )


_WATCH = {"id": "watch_1", "expression": "len(queue)", "result": "3", "type": "int"}
_WATCHES = {"watches": [_WATCH], "total": 1}


async def _watched(session: ProgramSession, watch: Watch) -> Json:
    shown: Json = {"id": watch.id, "watch_id": watch.id, "expression": watch.expression}
    if session.state is not State.PAUSED:
        return shown
    try:
        value = await inspection.evaluate(session, watch.expression, 0, "watch", None)
    except errors.HoldfastError as problem:
        return {**shown, "error": problem.message}
    return {**shown, **{k: v for k, v in value.items() if k != "name"}}


@routes.post("/sessions/{session_id}/watch", status_code=201, responses={201: shows(_WATCH)[200]})
async def add_watch(session: SessionHere, body: bodies.WatchExpression) -> Json:
    """Watch an expression: its value at every stop."""
    try:
        compile(body.expression.strip(), "<watch>", "eval")
    except (SyntaxError, ValueError) as problem:
        raise errors.InvalidInput(f"not an expression: {problem}", field="expression") from None
    watch = session.add_watch(body.expression)
    await session.saved()
    return await _watched(session, watch)


@routes.get("/sessions/{session_id}/watch", responses=shows(_WATCHES))
async def list_watches(session: SessionHere) -> Json:
    """Every watch with its value now."""
    found = [await _watched(session, watch) for watch in session.watches]
    return {"watches": found, "total": len(found)}


@routes.delete("/sessions/{session_id}/watch", responses=shows({"deleted": 2}))
async def clear_watches(session: SessionHere) -> Json:
    """Forget all watches."""
    count = len(session.watches)
    session.watches.clear()
    await session.saved()
    return {"deleted": count}


@routes.delete("/sessions/{session_id}/watch/{watch_id}", responses=shows({"deleted": True}))
async def remove_watch(session: SessionHere, watch_id: str) -> Json:
    """Forget one watch."""
    left = [watch for watch in session.watches if watch.id != watch_id]
    if len(left) == len(session.watches):
        raise errors.NotFound(f"no watch {watch_id}", watch_id=watch_id)
    session.watches[:] = left
    await session.saved()
    return {"deleted": True, "watch_id": watch_id}


@routes.post(
    "/sessions/{session_id}/completions",
    responses=shows({"targets": [{"label": "total", "type": "field", "start": 6, "length": 2}]}),
)
async def completions(session: SessionHere, body: bodies.Completions) -> Json:
    """What can follow the text, in a frame of the paused program."""
    text = body.text if body.column is None else body.text[: body.column - 1]
    found = await inspection.completions(session, text, body.frame_id)
    return {"targets": found, "completions": [each["label"] for each in found]}


_DOTTED = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")


@routes.post("/sessions/{session_id}/hover", responses=shows(_VARIABLE))
async def hover(session: SessionHere, body: bodies.Hover) -> Json:
    """The value of a name or attribute (or of what stands at a line and column); calls nothing."""
    expression = body.expression or await _expression_at(session, body)
    shown = await inspection.hover(session, expression, body.frame_id)
    return {**shown, "expression": expression, "value": shown["result"]}


async def _expression_at(session: ProgramSession, body: bodies.Hover) -> str:
    file = body.file or (await inspection.frame_path(session, body.frame_id))[0]
    lines = (await inspection.source(session, file)).splitlines()
    assert body.line is not None
    assert body.column is not None
    text = lines[body.line - 1] if body.line <= len(lines) else ""
    for match in _DOTTED.finditer(text):
        if match.start() < body.column <= match.end():
            dot = text.find(".", body.column - 1, match.end())
            return text[match.start() : dot if dot != -1 else match.end()]
    raise errors.InvalidInput(
        f"nothing to look at in line {body.line}, column {body.column}", field="column", text=text
    )


# -- source ---------------------------------------------------------------------------------------


@routes.get(
    "/sessions/{session_id}/source",
    responses=shows({"path": "/code/main.py", "content": "x = 1\n", "total_lines": 1}),
)
async def source(
    session: SessionHere,
    path: str | None = None,
    frame_id: int | None = None,
    start: Annotated[int | None, Query(ge=1, description="First line.")] = None,
    count: Count = None,
) -> Json:
    """The source of a file, or of a frame: from our disk, or from the target if only it has it."""
    shown: Json = {}
    if (path is None) == (frame_id is None):
        raise errors.InvalidInput("give path or frame_id", field="path")
    if frame_id is not None:
        path, shown["line"] = await inspection.frame_path(session, frame_id)
    assert path is not None
    if not path.startswith("<"):  # a name like <string> is no path
        path = os.path.normpath(os.path.join(session.breakpoints.base, os.path.expanduser(path)))
    lines = (await inspection.source(session, path)).splitlines(keepends=True)
    first = start or 1
    part = lines[first - 1 : None if count is None else first - 1 + count]
    return {
        "path": path,
        "file": path,
        **shown,
        "content": "".join(part),
        "start_line": first,
        "total_lines": len(lines),
    }
