"""Agent loops: commands to them, their state, and the large bodies of their recordings."""

from __future__ import annotations

from fastapi import Response

from holdfast.server.rest import bodies
from holdfast.server.rest.shared import Answer, SessionHere, router, shows

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


@routes.post("/sessions/{session_id}/command", responses=shows(_COMMAND))
async def send_command(session: SessionHere, body: bodies.AgentCommand) -> Answer:
    """Send a command to an agent and wait for its answer.

    `status` is `applied`, or `accepted` for what takes effect later (a pause, before the next model
    call). A rejected command is 400, one whose stop is over 409.
    """
    return Answer(await session.agent.command(body.type, body.data, body.timeout))


@routes.get("/sessions/{session_id}/state", responses=shows(_STATE))
async def get_state(session: SessionHere, what: str = "all") -> Answer:
    """What an agent says of itself: messages, context, tools, or all of it."""
    return Answer(await session.agent.inspect(what))


@routes.get(
    "/sessions/{session_id}/contents/{cid}",
    responses=shows({"text": "a body too large for its event"}),
    response_model=None,
)
async def get_content(session: SessionHere, cid: str) -> Response:
    """A body that an event names by its content id: JSON as it is, anything else as bytes.

    Pickles are given out as they are stored; nothing here ever loads one.
    """
    body, is_json = await session.agent.read_content(cid)
    kind = "application/json" if is_json else "application/octet-stream"
    return Response(body, media_type=kind, headers={"x-content-type-options": "nosniff"})
