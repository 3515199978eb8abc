"""Running a program: launch, continue, step, pause, restart, terminate, detach."""

from __future__ import annotations

import os
from typing import Annotated, Any

from fastapi import Query

from holdfast.model.launch import Launch
from holdfast.server.rest import bodies
from holdfast.server.rest.shared import (
    Answer,
    ProgramHere,
    SessionHere,
    options_of,
    router,
    shows,
)

routes = router()
WaitQuery = Annotated[str | None, Query(alias="wait", description="Seconds, or true.")]
IncludeQuery = Annotated[str | None, Query(alias="include", description="source,locals,stack,…")]
_RUNNING = {"session_id": "sess_abc123", "status": "running"}
_STEP = {
    "session_id": "sess_abc123",
    "status": "paused",
    "reason": "step",
    "location": {"file": "/code/main.py", "line": 11, "function": "main"},
    "source": {"file": "/code/main.py", "line": 11, "text": "    total += x", "context": []},
    "locals": [{"name": "x", "value": "42", "type": "int", "variable_reference": 0}],
}


@routes.post("/sessions/{session_id}/launch", responses=shows(_RUNNING))
async def launch(
    session: SessionHere,
    body: bodies.LaunchOptions,
    wait: WaitQuery = None,
    include: IncludeQuery = None,
) -> Answer:
    """Start a script, a module (`pytest` with its node ids, say) or a piece of code."""
    return Answer(await session.start(launch_of(body), options_of(body, wait, include)))


def launch_of(body: bodies.LaunchOptions) -> Launch:
    path = body.pythonpath
    return Launch(
        script=body.script if body.script is not None else body.program,
        module=body.module,
        code=body.code,
        args=tuple(body.args),
        env=body.env,
        cwd=body.cwd,
        pythonpath=tuple(path.split(os.pathsep) if isinstance(path, str) else path),
        python_path=body.python_path or body.python,
        venv=body.venv,
        stdin_inputs=tuple(body.stdin_inputs),
        stop_on_exception=body.stop_on_exception,
        stop_on_entry=body.stop_on_entry,
        just_my_code=body.just_my_code,
        debug_subprocesses=body.debug_subprocesses,
        stop_all_threads=body.stop_all_threads,
        route=body.route,
    )


@routes.post("/sessions/{session_id}/restart", responses=shows(_RUNNING))
@routes.post("/sessions/{session_id}/relaunch", responses=shows(_RUNNING))
async def restart(
    session: SessionHere,
    body: bodies.Restart | None = None,
    wait: WaitQuery = None,
    include: IncludeQuery = None,
) -> Answer:
    """Run the program over, with its breakpoints; also one of a server that is gone."""
    names = ("args", "env", "stop_on_entry", "stop_on_exception")
    changes: dict[str, Any] = {
        name: getattr(body, name) for name in names if getattr(body, name, None) is not None
    }
    if "args" in changes:
        changes["args"] = tuple(changes["args"])
    return Answer(await session.restart(changes, options_of(body, wait, include)))


@routes.post("/sessions/{session_id}/continue", responses=shows(_RUNNING))
async def continue_(
    session: SessionHere,
    body: bodies.Run | None = None,
    wait: WaitQuery = None,
    include: IncludeQuery = None,
) -> Answer:
    """Let the program run on; with `wait`, to its next stop or its end.

    Of an agent: everything that it holds."""
    return Answer(await session.resume(options_of(body, wait, include)))


STEPS = {
    "step-over": "To the next line, without entering the functions it calls; of an agent, to its "
    "next model call.",
    "step-into": "Into the function that this line calls; native ones are gone over, and said so.",
    "step-out": "To the caller, with what was returned.",
}


def _step_route(action: str, does: str) -> None:
    """Two routes for each kind of step: of the thread that stopped, and of a thread by its id."""
    name = action.replace("-", "_")

    @routes.post(
        f"/sessions/{{session_id}}/{action}", name=name, description=does, responses=shows(_STEP)
    )
    async def step(
        session: SessionHere,
        body: bodies.Run | None = None,
        wait: WaitQuery = None,
        include: IncludeQuery = None,
    ) -> Answer:
        return Answer(await session.step(action, options_of(body, wait, include)))

    @routes.post(
        f"/sessions/{{session_id}}/threads/{{thread_id}}/{action}",
        name=f"{name}_thread",
        description=f"In this thread. {does}",
        responses=shows(_STEP),
    )
    async def step_thread(
        session: ProgramHere,
        thread_id: int,
        body: bodies.Run | None = None,
        wait: WaitQuery = None,
        include: IncludeQuery = None,
    ) -> Answer:
        return Answer(await session.step(action, options_of(body, wait, include, thread_id)))


for _action, _does in STEPS.items():
    _step_route(_action, _does)


_PAUSED = {**_STEP, "reason": "pause"}


@routes.post("/sessions/{session_id}/pause", responses=shows(_PAUSED))
async def pause(
    session: SessionHere,
    body: bodies.Run | None = None,
    wait: WaitQuery = None,
    include: IncludeQuery = None,
) -> Answer:
    """Stop a running program at its next line; `running` when it is busy outside Python.

    An agent stops before its next model call."""
    return Answer(await session.pause(options_of(body, wait, include)))


@routes.post("/sessions/{session_id}/terminate", responses=shows({"status": "terminated"}))
async def terminate(session: SessionHere) -> Answer:
    """End the program; the session, its output and its breakpoints stay."""
    return Answer(await session.terminate())


@routes.post("/sessions/{session_id}/detach", responses=shows({"status": "terminated"}))
async def detach(session: SessionHere) -> Answer:
    """Leave the program running by itself: it outlives the session and the server."""
    return Answer(await session.detach())


# -- one thread -----------------------------------------------------------------------------------


@routes.post("/sessions/{session_id}/threads/{thread_id}/continue", responses=shows(_RUNNING))
async def continue_thread(
    session: ProgramHere,
    thread_id: int,
    body: bodies.Run | None = None,
    wait: WaitQuery = None,
) -> Answer:
    """Let one thread run on; the others stay where they are."""
    return Answer(await session.resume_thread(thread_id, options_of(body, wait)))


@routes.post("/sessions/{session_id}/threads/{thread_id}/pause", responses=shows(_PAUSED))
async def pause_thread(
    session: ProgramHere,
    thread_id: int,
    body: bodies.Run | None = None,
    wait: WaitQuery = None,
    include: IncludeQuery = None,
) -> Answer:
    """Stop one thread (and, unless `stop_all_threads` is off, the others with it)."""
    return Answer(await session.pause(options_of(body, wait, include, thread_id)))
