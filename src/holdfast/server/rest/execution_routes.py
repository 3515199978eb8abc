"""Running a program: launch, continue, step, pause, restart, terminate, detach."""

from __future__ import annotations

from holdfast.server.rest.shared import build_options
from holdfast.server.route_table import ProgramTarget, RouteList
from holdfast.service.session import Session
from holdfast.wire.program_answers import ProgramStatus
from holdfast.wire.program_requests import (
    ContinueRequest,
    LaunchRequest,
    RestartRequest,
    RunRequest,
    WatchUntil,
)
from holdfast.wire.session_requests import StatusQuery
from holdfast.wire.target_answers import StatusAnswer

routes = RouteList()
_DEFAULTS = RunRequest()
_ON = ContinueRequest()
_UNCHANGED = RestartRequest()
_AS_BEFORE = LaunchRequest()


@routes.post("/sessions/{session_id}/launch")
async def launch(
    session: Session, query: StatusQuery, body: LaunchRequest = _AS_BEFORE
) -> StatusAnswer:
    """Start a script, a module (`pytest` with its node ids, say) or a piece of code.

    In a clone or an import, or after the end: `{}`, or no body, starts what was launched before."""
    return await session.start(body.to_start(), build_options(body, query), body.to_preparation())


@routes.post("/sessions/{session_id}/restart")
@routes.post("/sessions/{session_id}/relaunch")
async def restart(
    session: Session, query: StatusQuery, body: RestartRequest = _UNCHANGED
) -> StatusAnswer:
    """Run the program over, with its breakpoints; also one of a server that is gone."""
    return await session.restart(body.changes(), build_options(body, query))


@routes.post("/sessions/{session_id}/continue")
async def continue_(
    session: Session, query: StatusQuery, body: ContinueRequest = _ON
) -> StatusAnswer:
    """Let the program run on; with `wait`, to its next stop or its end.

    Of an agent: everything that it holds."""
    options = build_options(body, query)
    if body.watch_until is not None:
        return await session.program.resume_until(body.watch_until, body.frame_id, options)
    return await session.resume(options)


@routes.post("/sessions/{session_id}/watch-until")
@routes.post("/sessions/{session_id}/watch_until")
async def watch_until(
    session: ProgramTarget, query: StatusQuery, body: WatchUntil
) -> ProgramStatus:
    """Run until an expression becomes true, until its frame returns, or until another stop."""
    options = build_options(body, query)
    return await session.program.resume_until(body.expression, body.frame_id, options)


STEPS = {
    "step-over": "To the next line, without entering the functions it calls; of an agent, to its "
    "next model call.",
    "step-into": "Into the function that this line calls; native ones are gone over, and said so.",
    "step-out": "To the caller, with what was returned.",
}


def _add_step_routes(action: str, meaning: str) -> None:
    """Two routes for each kind of step: of the thread that stopped, and of a thread by its id."""

    @routes.post(f"/sessions/{{session_id}}/{action}", meaning=meaning)
    async def step(
        session: Session, query: StatusQuery, body: RunRequest = _DEFAULTS
    ) -> StatusAnswer:
        return await session.step(action, build_options(body, query))

    @routes.post(
        f"/sessions/{{session_id}}/threads/{{thread_id}}/{action}",
        meaning=f"In this thread. {meaning}",
    )
    async def step_thread(
        session: ProgramTarget, thread_id: int, query: StatusQuery, body: RunRequest = _DEFAULTS
    ) -> StatusAnswer:
        return await session.step(action, build_options(body, query, thread_id))


for _action, _meaning in STEPS.items():
    _add_step_routes(_action, _meaning)


@routes.post("/sessions/{session_id}/pause")
async def pause(session: Session, query: StatusQuery, body: RunRequest = _DEFAULTS) -> StatusAnswer:
    """Stop a running program at its next line; `running` when it is busy outside Python, and then
    `message` says what the pause waits for. Deadlocks are named in any case.

    An agent stops before its next model call."""
    return await session.pause(build_options(body, query))


@routes.post("/sessions/{session_id}/terminate")
async def terminate(session: Session) -> StatusAnswer:
    """End the program; the session, its output and its breakpoints stay."""
    return await session.terminate()


@routes.post("/sessions/{session_id}/detach")
async def detach(session: Session) -> StatusAnswer:
    """Leave the program running by itself: it outlives the session and the server."""
    return await session.detach()


# -- one thread -----------------------------------------------------------------------------------


@routes.post("/sessions/{session_id}/threads/{thread_id}/continue")
async def continue_thread(
    session: ProgramTarget, thread_id: int, query: StatusQuery, body: RunRequest = _DEFAULTS
) -> ProgramStatus:
    """Let one thread run on; the others stay where they are."""
    return await session.program.resume_thread(thread_id, build_options(body, query))


@routes.post("/sessions/{session_id}/threads/{thread_id}/pause")
async def pause_thread(
    session: ProgramTarget, thread_id: int, query: StatusQuery, body: RunRequest = _DEFAULTS
) -> StatusAnswer:
    """Stop one thread (and, unless `stop_all_threads` is off, the others with it).

    While others are held: a thread that runs, such as one that was let go."""
    return await session.pause(build_options(body, query, thread_id))
