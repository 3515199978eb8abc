"""Looking into a paused program: stack, scopes, variables, expressions, threads, tasks, source."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query

from holdfast.server.rest import bodies
from holdfast.server.rest.shared import Answer, Json, ProgramHere, SessionHere, router, shows

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


def _page(
    start: int | None,
    offset: int | None,
    count: int | None,
    limit: int | None,
    default: int | None = None,
) -> Any:
    first = start if start is not None else offset
    most = count if count is not None else limit
    return first or 0, default if most is None else most


# -- the stack ------------------------------------------------------------------------------------


@routes.get("/sessions/{session_id}/stacktrace", responses=shows(_STACK))
async def stacktrace(
    session: ProgramHere,
    start: Start = None,
    count: Count = None,
    offset: Start = None,
    limit: Count = None,
    thread_id: Annotated[int | None, Query()] = None,
) -> Answer:
    """The stack of the thread that stopped, innermost first, a page at a time."""
    first, most = _page(start, offset, count, limit)
    return Answer(await session.inspection.stack(thread_id, first, most))


@routes.get("/sessions/{session_id}/threads/{thread_id}/stacktrace", responses=shows(_STACK))
async def thread_stacktrace(
    session: ProgramHere,
    thread_id: int,
    start: Start = None,
    count: Count = None,
    offset: Start = None,
    limit: Count = None,
) -> Answer:
    """The stack of one thread; of a running one, where it is at this moment."""
    first, most = _page(start, offset, count, limit)
    return Answer(await session.inspection.stack(thread_id, first, most))


_THREADS = {"threads": [{"thread_id": 1, "id": 1, "name": "MainThread", "status": "paused"}]}


@routes.get("/sessions/{session_id}/threads", responses=shows(_THREADS))
async def threads(session: ProgramHere) -> Answer:
    """Every thread: held or running, and where."""
    return Answer(await session.inspection.threads())


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
async def tasks(session: ProgramHere) -> Answer:
    """The asyncio tasks: where each stands and what it waits for."""
    return Answer(await session.inspection.tasks())


# -- variables ------------------------------------------------------------------------------------


@routes.get(
    "/sessions/{session_id}/frames/{frame_id}/scopes",
    responses=shows({"scopes": [{"name": "Locals", "reference": 1000}]}),
)
async def scopes(session: ProgramHere, frame_id: int) -> Answer:
    """The scopes of a frame: Locals and Globals."""
    return Answer(await session.inspection.scopes(frame_id))


@routes.get("/sessions/{session_id}/frames/{frame_id}/variables", responses=shows(_VARIABLES))
async def frame_variables(
    session: ProgramHere,
    frame_id: int,
    summary: bool = False,
    start: Start = None,
    count: Count = None,
    offset: Start = None,
    limit: Count = None,
) -> Answer:
    """The local variables of a frame; with `summary`, types and sizes only."""
    first, most = _page(start, offset, count, limit, 1000)
    page = await session.inspection.locals(frame_id, start=first, count=most, summary=summary)
    return Answer(page)


@routes.get("/sessions/{session_id}/scopes/{reference}/variables", responses=shows(_VARIABLES))
async def scope_variables(
    session: ProgramHere,
    reference: int,
    summary: bool = False,
    start: Start = None,
    count: Count = None,
    offset: Start = None,
    limit: Count = None,
) -> Answer:
    """The variables of a scope."""
    first, most = _page(start, offset, count, limit, 1000)
    return Answer(await session.inspection.scope_variables(reference, first, most, summary=summary))


@routes.get("/sessions/{session_id}/variables/{reference}", responses=shows(_ITEMS))
async def expand_variable(
    session: ProgramHere,
    reference: int,
    start: Start = None,
    count: Count = None,
    offset: Start = None,
    limit: Count = None,
) -> Answer:
    """A page of what a value holds; a million items cost no more than a few."""
    first, most = _page(start, offset, count, limit, _PAGE)
    return Answer(await session.inspection.items(reference, first, most))


@routes.get(
    "/sessions/{session_id}/frames/{frame_id}/variables/{reference}/children",
    responses=shows(_ITEMS),
)
async def expand_frame_variable(
    session: ProgramHere,
    frame_id: int,
    reference: str,
    start: Start = None,
    count: Count = None,
    offset: Start = None,
    limit: Count = None,
) -> Answer:
    """As `/variables/{reference}`; a local may also be named."""
    first, most = _page(start, offset, count, limit, _PAGE)
    return Answer(await session.inspection.frame_items(frame_id, reference, first, most))


@routes.post("/sessions/{session_id}/variables/{reference}/set", responses=shows(_VARIABLE))
async def set_variable(session: ProgramHere, reference: int, body: bodies.SetVariable) -> Answer:
    """Give a variable of a scope, or a part of a value, a new value (a Python expression)."""
    return Answer(
        await session.inspection.set_variable(reference, body.name, body.value, body.timeout)
    )


# -- expressions ----------------------------------------------------------------------------------


@routes.post(
    "/sessions/{session_id}/evaluate",
    responses=shows({"result": "84", "type": "int", "variable_reference": 0}),
)
async def evaluate(session: SessionHere, body: bodies.EvaluateAnywhere) -> Answer:
    """Evaluate an expression (in a REPL, run a statement) in a frame of the paused program.

    In a session of calls: in the frame of whoever makes the held call."""
    answer = await session.evaluate(
        body.expression,
        hold_id=body.hold_id,
        frame_id=body.frame_id,
        context=body.context,
        timeout=body.timeout,
    )
    return Answer(answer)


_WATCH = {"id": "watch_1", "expression": "len(queue)", "result": "3", "type": "int"}
_WATCHES = {"watches": [_WATCH], "total": 1}


@routes.post("/sessions/{session_id}/watch", status_code=201, responses={201: shows(_WATCH)[200]})
async def add_watch(session: ProgramHere, body: bodies.WatchExpression) -> Answer:
    """Watch an expression: its value at every stop."""
    return Answer(await session.watches.add(body.expression), 201)


@routes.get("/sessions/{session_id}/watch", responses=shows(_WATCHES))
async def list_watches(session: ProgramHere) -> Answer:
    """Every watch with its value now."""
    return Answer(await session.watches.all())


@routes.delete("/sessions/{session_id}/watch", responses=shows({"deleted": 2}))
async def clear_watches(session: ProgramHere) -> Json:
    """Forget all watches."""
    return {"deleted": await session.watches.clear()}


@routes.delete("/sessions/{session_id}/watch/{watch_id}", responses=shows({"deleted": True}))
async def remove_watch(session: ProgramHere, watch_id: str) -> Json:
    """Forget one watch."""
    await session.watches.remove(watch_id)
    return {"deleted": True, "watch_id": watch_id}


@routes.post(
    "/sessions/{session_id}/completions",
    responses=shows({"targets": [{"label": "total", "type": "field", "start": 6, "length": 2}]}),
)
async def completions(session: ProgramHere, body: bodies.Completions) -> Answer:
    """What can follow the text, in a frame of the paused program."""
    text = body.text if body.column is None else body.text[: body.column - 1]
    return Answer(await session.inspection.completions(text, body.frame_id))


@routes.post("/sessions/{session_id}/hover", responses=shows(_VARIABLE))
async def hover(session: ProgramHere, body: bodies.Hover) -> Answer:
    """The value of a name or attribute (or of what stands at a line and column); calls nothing."""
    inspection = session.inspection
    if body.expression:
        return Answer(await inspection.hover(body.expression, body.frame_id))
    assert body.line is not None
    assert body.column is not None
    return Answer(await inspection.hover_at(body.line, body.column, body.file, body.frame_id))


# -- source ---------------------------------------------------------------------------------------


@routes.get(
    "/sessions/{session_id}/source",
    responses=shows({"path": "/code/main.py", "content": "x = 1\n", "total_lines": 1}),
)
async def source(
    session: ProgramHere,
    path: str | None = None,
    frame_id: int | None = None,
    start: Annotated[int | None, Query(ge=1, description="First line.")] = None,
    count: Count = None,
) -> Answer:
    """The source of a file, or of a frame: from our disk, or from the target if only it has it."""
    return Answer(await session.inspection.source(path, frame_id, start, count))
