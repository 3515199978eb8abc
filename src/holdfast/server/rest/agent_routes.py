"""Agent loops: commands to them, their state, and the large bodies of their recordings."""

from __future__ import annotations

import asyncio
from typing import Annotated

import orjson
from fastapi import Depends, Request, Response

from holdfast import errors
from holdfast.recording.contents import Contents
from holdfast.server.rest import bodies
from holdfast.server.rest.shared import (
    Json,
    ServiceHere,
    patience_of,
    router,
    shows,
    the_service,
)
from holdfast.service.agents import steering
from holdfast.service.agents.session import AgentSession
from holdfast.service.agents.shown import state_json
from holdfast.service.debugger import Debugger

routes = router()
_COMMAND = {
    "command_id": "cmd_5d8f3a21b0c4",
    "type": "breakpoint",
    "status": "applied",
    "response": {"success": True, "data": {"id": "bp-1"}},
    "session": {"session_id": "debug_20260123_131000_abc123", "status": "running"},
}
_STATE = {
    "session_id": "debug_20260123_131000_abc123",
    "status": "paused",
    "state": {
        "iteration": 3,
        "paused": True,
        "messages": {"count": 5, "roles": {"user": 1, "assistant": 4}},
    },
}


async def the_agent(session_id: str, request: Request) -> AgentSession:
    """The agent; who names a session of another kind learns which it is."""
    found = (await the_service(request)).any_session(session_id)
    if isinstance(found, AgentSession):
        return found
    raise errors.WrongState(
        f"session {session_id} is of kind {found.kind.value}: it is no agent",
        hint="Commands are for sessions of kind agent; GET /sessions says which they are.",
        session_id=session_id,
        kind=found.kind.value,
        state=found.state.value,
        possible=["events", "delete"],
    )


AgentHere = Annotated[AgentSession, Depends(the_agent)]


@routes.post("/sessions/{session_id}/command", responses=shows(_COMMAND))
async def send_command(service: ServiceHere, session: AgentHere, body: bodies.AgentCommand) -> Json:
    """Send a command to an agent and wait for its answer.

    `status` is `applied`, or `accepted` for what takes effect later (a pause, before the next model
    call). A rejected command is 400, one whose stop is over 409.
    """
    patience = patience_for(body.timeout, service)
    outcome = await steering.command(session, body.type, body.data, patience)
    shown: Json = {
        "command_id": outcome.command_id,
        "type": body.type,
        "status": outcome.status,
        "response": outcome.response,
        "session": state_json(session),
    }
    if outcome.note is not None:
        shown["note"] = outcome.note
    return shown


def patience_for(timeout: float | None, service: Debugger) -> float:
    return service.settings.request_timeout if timeout is None else timeout


@routes.get("/sessions/{session_id}/state", responses=shows(_STATE))
async def get_state(service: ServiceHere, session: AgentHere, what: str = "all") -> Json:
    """What an agent says of itself: messages, context, tools, or all of it."""
    found = await steering.inspect(session, what, service.settings.request_timeout)
    return {**state_json(session), "state": found}


@routes.get(
    "/sessions/{session_id}/contents/{cid}",
    responses=shows({"text": "a body too large for its event"}),
    response_model=None,
)
async def get_content(session: AgentHere, cid: str) -> Response:
    """A body that an event names by its content id: JSON as it is, anything else as bytes.

    Pickles are given out as they are stored; nothing here ever loads one.
    """
    try:
        body = await asyncio.to_thread(Contents(session.home.contents).get, cid)
    except (KeyError, OSError):
        raise errors.CidNotFound(
            f"no content {cid[:100]} in session {session.id}",
            hint="Content ids are those of `$cid` and `…Pickle` in this session's events.",
            cid=cid[:100],
            session_id=session.id,
        ) from None
    is_json = await asyncio.to_thread(_is_json, body)
    kind = "application/json" if is_json else "application/octet-stream"
    return Response(body, media_type=kind, headers={"x-content-type-options": "nosniff"})


def _is_json(body: bytes) -> bool:
    try:
        orjson.loads(body)
    except ValueError:
        return False
    return True


# -- as programs are steered ----------------------------------------------------------------------


async def continue_agent(
    service: Debugger, session: AgentSession, body: bodies.Run, wait: str | None
) -> Json:
    given = body.wait if body.wait is not None else wait
    patience = patience_of(given, service.settings, 0.0)
    limit = service.settings.request_timeout
    by = body.by or "rest"
    if len(session.held) > 1:
        await steering.continue_all(service.agents, service.ledger, session.id, by, limit)
    else:
        held = steering.the_hold(session, "continue")
        agents, ledger = service.agents, service.ledger
        await steering.decide(agents, ledger, held.id, "continue", by, {}, limit)
    if patience:
        await session.wait_until(lambda: session.settled, patience)
    return state_json(session)


async def step_agent(
    service: Debugger, session: AgentSession, action: str, body: bodies.Run, wait: str | None
) -> Json:
    """One iteration: an agent has no lines to step over, into or out of."""
    held = steering.the_hold(session, action)
    given = body.wait if body.wait is not None else wait
    patience = patience_of(given, service.settings, service.settings.step_wait)
    await steering.decide(
        service.agents,
        service.ledger,
        held.id,
        "step",
        body.by or "rest",
        {},
        service.settings.request_timeout,
    )
    if patience:
        await session.wait_until(lambda: session.settled, patience)
    return state_json(session)


async def pause_agent(
    service: Debugger, session: AgentSession, body: bodies.Run, wait: str | None
) -> Json:
    settings = service.settings
    given = body.wait if body.wait is not None else wait
    patience = patience_of(given, settings, settings.step_wait)
    is_paused = await steering.pause(session, settings.request_timeout, patience)
    shown = state_json(session)
    if not is_paused and not session.over:
        shown["pause_pending"] = True
        shown["message"] = "It stops before its next model call; GET its /status?wait= to wait."
    return shown
