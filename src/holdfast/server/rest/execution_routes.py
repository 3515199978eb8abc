"""Running a program: launch, continue, step, pause, restart, terminate, detach."""

from __future__ import annotations

import dataclasses
import os
from typing import Annotated, Any

from fastapi import Query

from holdfast.model.launch import Launch
from holdfast.model.session import State
from holdfast.server.rest import agent_routes, bodies
from holdfast.server.rest.shared import (
    Json,
    ServiceHere,
    SessionHere,
    Steered,
    after,
    chosen,
    router,
    seconds,
    shows,
    state_of,
    status,
)
from holdfast.service.agents.session import AgentSession
from holdfast.service.programs import program_launch
from holdfast.service.programs.program_session import ProgramSession

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
    service: ServiceHere,
    session: SessionHere,
    body: bodies.LaunchOptions,
    wait: WaitQuery = None,
    include: IncludeQuery = None,
) -> Json:
    """Start a script, a module (`pytest` with its node ids, say) or a piece of code."""
    patience = seconds(body.wait if body.wait is not None else wait, session, 0.0)
    wanted = chosen(body.include if body.include is not None else include)
    await program_launch.launch(service, session, launch_of(body))
    return await after(session, patience, wanted)


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
    service: ServiceHere,
    session: SessionHere,
    body: bodies.Restart | None = None,
    wait: WaitQuery = None,
    include: IncludeQuery = None,
) -> Json:
    """Run the program over, with its breakpoints; also one of a server that is gone."""
    body = body or bodies.Restart()
    patience, wanted = _options(session, body, wait, include, 0.0)
    names = ("args", "env", "stop_on_entry", "stop_on_exception")
    given: dict[str, Any] = {n: getattr(body, n) for n in names if getattr(body, n) is not None}
    if "args" in given:
        given["args"] = tuple(given["args"])
    changed = dataclasses.replace(session.launch, **given) if session.launch and given else None
    await program_launch.restart(service, session, changed)
    return await after(session, patience, wanted)


def _options(
    session: ProgramSession,
    body: bodies.Run,
    wait: str | None,
    include: str | None,
    default: float,
) -> tuple[float, tuple[str, ...]]:
    patience = seconds(body.wait if body.wait is not None else wait, session, default)
    return patience, chosen(body.include if body.include is not None else include)


@routes.post("/sessions/{session_id}/continue", responses=shows(_RUNNING))
async def continue_(
    service: ServiceHere,
    session: Steered,
    body: bodies.Run | None = None,
    wait: WaitQuery = None,
    include: IncludeQuery = None,
) -> Json:
    """Let the program run on; with `wait`, to its next stop or its end.

    Of an agent: everything that it holds."""
    body = body or bodies.Run()
    if isinstance(session, AgentSession):
        return await agent_routes.continue_agent(service, session, body, wait)
    patience, wanted = _options(session, body, wait, include, 0.0)
    await program_launch.act(session, "continue", body.by or "rest")
    return await after(session, patience, wanted)


async def _step(
    session: ProgramSession,
    action: str,
    body: bodies.Run | None,
    wait: str | None,
    include: str | None,
    thread: int | None = None,
) -> Json:
    body = body or bodies.Run()
    patience, wanted = _options(session, body, wait, include, session.settings.step_wait)
    chosen_thread = thread if thread is not None else body.thread_id
    before = await program_launch.act(session, action, body.by or "rest", thread=chosen_thread)
    shown = await after(session, patience, wanted)
    if action == "step-into" and program_launch.went_native(session, before):
        shown["native_frame"] = True
        shown["message"] = "The call on that line went into native code; the step went over it."
    return shown


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
        service: ServiceHere,
        session: Steered,
        body: bodies.Run | None = None,
        wait: WaitQuery = None,
        include: IncludeQuery = None,
    ) -> Json:
        if isinstance(session, AgentSession):
            if action != "step-over":
                session = service.session(session.id)  # which says what an agent can do
            else:
                return await agent_routes.step_agent(
                    service, session, action, body or bodies.Run(), wait
                )
        return await _step(session, action, body, wait, include)

    @routes.post(
        f"/sessions/{{session_id}}/threads/{{thread_id}}/{action}",
        name=f"{name}_thread",
        description=f"In this thread. {does}",
        responses=shows(_STEP),
    )
    async def step_thread(
        session: SessionHere,
        thread_id: int,
        body: bodies.Run | None = None,
        wait: WaitQuery = None,
        include: IncludeQuery = None,
    ) -> Json:
        return await _step(session, action, body, wait, include, thread_id)


for _action, _does in STEPS.items():
    _step_route(_action, _does)


_PAUSED = {**_STEP, "reason": "pause"}


@routes.post("/sessions/{session_id}/pause", responses=shows(_PAUSED))
async def pause(
    service: ServiceHere,
    session: Steered,
    body: bodies.Run | None = None,
    wait: WaitQuery = None,
    include: IncludeQuery = None,
) -> Json:
    """Stop a running program at its next line; `running` when it is busy outside Python.

    An agent stops before its next model call."""
    body = body or bodies.Run()
    if isinstance(session, AgentSession):
        return await agent_routes.pause_agent(service, session, body, wait)
    return await _pause(session, body, wait, include, body.thread_id)


async def _pause(
    session: ProgramSession,
    body: bodies.Run,
    wait: str | None,
    include: str | None,
    thread: int | None,
) -> Json:
    patience, wanted = _options(session, body, wait, include, session.settings.step_wait)
    await program_launch.pause(session, thread)
    if patience:
        await session.wait_until(lambda: session.state is State.PAUSED or session.over, patience)
    shown = await after(session, 0.0, wanted) if not patience else None
    if shown is None:
        shown = await after(session, 0.001, wanted)
    if shown["status"] in ("running", "waiting_for_input"):
        shown["pause_pending"] = True
        shown["message"] = (
            "It stops at its next line of Python; it is busy outside of it now. "
            "GET /threads says where each thread is."
        )
    return shown


@routes.post("/sessions/{session_id}/terminate", responses=shows({"status": "terminated"}))
async def terminate(service: ServiceHere, session: SessionHere) -> Json:
    """End the program; the session, its output and its breakpoints stay."""
    await program_launch.terminate(service, session)
    return state_of(session)


@routes.post("/sessions/{session_id}/detach", responses=shows({"status": "terminated"}))
async def detach(service: ServiceHere, session: SessionHere) -> Json:
    """Leave the program running by itself: it outlives the session and the server."""
    await program_launch.detach(service, session)
    return {**state_of(session), "detached": True}


# -- one thread -----------------------------------------------------------------------------------


@routes.post("/sessions/{session_id}/threads/{thread_id}/continue", responses=shows(_RUNNING))
async def continue_thread(
    session: SessionHere,
    thread_id: int,
    body: bodies.Run | None = None,
    wait: WaitQuery = None,
) -> Json:
    """Let one thread run on; the others stay where they are."""
    body = body or bodies.Run()
    patience, wanted = _options(session, body, wait, None, 0.0)
    await program_launch.continue_thread(session, thread_id, body.by or "rest")
    if patience:
        await session.stopped_again(thread_id, patience)
        return await status(session, wanted)
    return {**state_of(session), "resumed_thread_id": thread_id}


@routes.post("/sessions/{session_id}/threads/{thread_id}/pause", responses=shows(_PAUSED))
async def pause_thread(
    session: SessionHere,
    thread_id: int,
    body: bodies.Run | None = None,
    wait: WaitQuery = None,
    include: IncludeQuery = None,
) -> Json:
    """Stop one thread (and, unless `stop_all_threads` is off, the others with it)."""
    return await _pause(session, body or bodies.Run(), wait, include, thread_id)
