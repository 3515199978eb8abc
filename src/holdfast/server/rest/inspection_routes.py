"""Looking into a paused program: stack, scopes, variables, expressions, threads, tasks, source."""

from __future__ import annotations

from holdfast.server.route_table import ProgramTarget, RouteList
from holdfast.service.session import Session
from holdfast.wire.program_answers import (
    CompletionList,
    DeadlockReport,
    DeletedWatch,
    Hover,
    ItemPage,
    ScopeList,
    SourceText,
    StackPage,
    TaskList,
    ThreadList,
    Variable,
    VariableList,
    Watch,
    WatchList,
)
from holdfast.wire.program_requests import (
    AddWatch,
    CompleteText,
    HoldQuery,
    HoverRequest,
    ItemsQuery,
    PageQuery,
    SetVariable,
    SourceQuery,
    StackQuery,
    VariablesQuery,
)
from holdfast.wire.session_answers import DeletedCount
from holdfast.wire.session_requests import Evaluate
from holdfast.wire.target_answers import EvaluationAnswer

routes = RouteList()
_MAX_VARIABLES = 1000


def _size(query: PageQuery) -> int:
    return _MAX_VARIABLES if query.size is None else query.size


# -- the stack ------------------------------------------------------------------------------------


@routes.get("/sessions/{session_id}/stacktrace")
async def stacktrace(session: ProgramTarget, query: StackQuery) -> StackPage:
    """The stack of the thread that stopped, innermost first, a page at a time.

    While C code holds the interpreter: of the thread that runs it, read from outside."""
    program = session.program
    with program.stops.reading(query.hold_id):
        return await program.inspection.stack(query.thread_id, query.first, query.size)


@routes.get("/sessions/{session_id}/threads/{thread_id}/stacktrace")
async def thread_stacktrace(session: ProgramTarget, thread_id: int, query: PageQuery) -> StackPage:
    """The stack of one thread; of a running one, where it is at this moment."""
    program = session.program
    with program.stops.reading(query.hold_id):
        return await program.inspection.stack(thread_id, query.first, query.size)


@routes.get("/sessions/{session_id}/threads")
async def threads(session: ProgramTarget, query: HoldQuery) -> ThreadList:
    """Every thread: held or running, and where.

    While C code holds the interpreter, this is read from outside, and says so."""
    with session.program.stops.reading(query.hold_id):
        return await session.program.inspection.threads()


@routes.get("/sessions/{session_id}/deadlocks")
async def deadlocks(session: ProgramTarget) -> DeadlockReport:
    """What each thread and asyncio task waits for, who holds it, and the circles in that.

    It runs none of the program's code, and works while the program runs, is held, or hangs."""
    return await session.program.inspection.deadlocks()


@routes.get("/sessions/{session_id}/tasks")
async def tasks(session: ProgramTarget, query: HoldQuery) -> TaskList:
    """The asyncio tasks: where each stands and what it waits for."""
    with session.program.stops.reading(query.hold_id):
        return await session.program.inspection.tasks()


# -- variables ------------------------------------------------------------------------------------


@routes.get("/sessions/{session_id}/frames/{frame_id}/scopes")
async def scopes(session: ProgramTarget, frame_id: int, query: HoldQuery) -> ScopeList:
    """The scopes of a frame: Locals and Globals."""
    with session.program.stops.reading(query.hold_id):
        return await session.program.inspection.scopes(frame_id)


@routes.get("/sessions/{session_id}/frames/{frame_id}/variables")
async def frame_variables(
    session: ProgramTarget, frame_id: int, query: VariablesQuery
) -> VariableList:
    """The local variables of a frame; with `summary`, types and sizes only."""
    program = session.program
    with program.stops.reading(query.hold_id):
        return await program.inspection.locals(
            frame_id,
            start=query.first,
            count=_size(query),
            summary=query.summary,
            max_chars=query.max_chars,
        )


@routes.get("/sessions/{session_id}/scopes/{reference}/variables")
async def scope_variables(
    session: ProgramTarget, reference: int, query: VariablesQuery
) -> VariableList:
    """The variables of a scope."""
    program, size = session.program, _size(query)
    with program.stops.reading(query.hold_id):
        return await program.inspection.scope_variables(
            reference, query.first, size, summary=query.summary, max_chars=query.max_chars
        )


@routes.get("/sessions/{session_id}/variables/{reference}")
async def expand_variable(session: ProgramTarget, reference: int, query: ItemsQuery) -> ItemPage:
    """A page of what a value holds; a million items cost no more than a few.

    Of a long string or bytes: one item, the part of `count` characters from `start` on."""
    program = session.program
    with program.stops.reading(query.hold_id):
        return await program.inspection.items(
            reference, query.first, query.size, max_chars=query.max_chars
        )


@routes.get("/sessions/{session_id}/frames/{frame_id}/variables/{reference}/children")
async def expand_frame_variable(
    session: ProgramTarget, frame_id: int, reference: str, query: ItemsQuery
) -> ItemPage:
    """As `/variables/{reference}`; a local may also be named."""
    program = session.program
    with program.stops.reading(query.hold_id):
        return await program.inspection.frame_items(
            frame_id, reference, query.first, query.size, max_chars=query.max_chars
        )


@routes.post("/sessions/{session_id}/variables/{reference}/set")
async def set_variable(session: ProgramTarget, reference: int, body: SetVariable) -> Variable:
    """Give a variable of a scope, or a part of a value, a new value (a Python expression)."""
    session.program.stops.require_hold(body.hold_id)
    return await session.program.inspection.set_variable(
        reference, body.name, body.value, body.timeout
    )


# -- expressions ----------------------------------------------------------------------------------


@routes.post("/sessions/{session_id}/evaluate")
async def evaluate(session: Session, body: Evaluate) -> EvaluationAnswer:
    """Evaluate an expression (in a REPL, run a statement) in a frame of the paused program.

    In a session of calls: in the frame of whoever makes the held call."""
    return await session.evaluate(body, body.hold_id)


@routes.post("/sessions/{session_id}/watch", status=201)
async def add_watch(session: ProgramTarget, body: AddWatch) -> Watch:
    """Watch an expression: its value at every stop."""
    session.program.stops.require_hold(body.hold_id)
    return await session.program.watches.add(body.expression)


@routes.get("/sessions/{session_id}/watch")
async def list_watches(session: ProgramTarget, query: HoldQuery) -> WatchList:
    """Every watch with its value now."""
    with session.program.stops.reading(query.hold_id):
        return await session.program.watches.all()


@routes.delete("/sessions/{session_id}/watch")
async def clear_watches(session: ProgramTarget) -> DeletedCount:
    """Forget all watches."""
    return DeletedCount(await session.program.watches.clear())


@routes.delete("/sessions/{session_id}/watch/{watch_id}")
async def remove_watch(session: ProgramTarget, watch_id: str) -> DeletedWatch:
    """Forget one watch."""
    await session.program.watches.remove(watch_id)
    return DeletedWatch(watch_id)


@routes.post("/sessions/{session_id}/completions")
async def completions(session: ProgramTarget, body: CompleteText) -> CompletionList:
    """What can follow the text, in a frame of the paused program."""
    text = body.text if body.column is None else body.text[: body.column - 1]
    with session.program.stops.reading(body.hold_id):
        return await session.program.inspection.completions(text, body.frame_id)


@routes.post("/sessions/{session_id}/hover")
async def hover(session: ProgramTarget, body: HoverRequest) -> Hover:
    """The value of a name or attribute (or of what stands at a line and column); calls nothing."""
    inspection = session.program.inspection
    with session.program.stops.reading(body.hold_id):
        if body.expression:
            return await inspection.hover(body.expression, body.frame_id)
        assert body.line is not None
        assert body.column is not None
        return await inspection.hover_at(body.line, body.column, body.file, body.frame_id)


# -- source ---------------------------------------------------------------------------------------


@routes.get("/sessions/{session_id}/source")
async def source(session: ProgramTarget, query: SourceQuery) -> SourceText:
    """The source of a file, or of a frame: from our disk, or from the target if only it has it."""
    program = session.program
    with program.stops.reading(query.hold_id):
        return await program.inspection.source(query.path, query.frame_id, query.start, query.count)
