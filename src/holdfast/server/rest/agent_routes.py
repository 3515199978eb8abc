"""Agent loops: commands to them, their state, and the large bodies of their recordings."""

from __future__ import annotations

from typing import Annotated

from starlette.responses import Response

from holdfast.server.route_table import Media, RouteList
from holdfast.service.session import Session
from holdfast.wire.agent_answers import AgentCommandAnswer, AgentInspection
from holdfast.wire.session_requests import AgentCommand, AgentStateQuery

routes = RouteList()
RecordedBody = Annotated[
    Response, Media("application/octet-stream", "The body as it was recorded; JSON as JSON.")
]


@routes.post("/sessions/{session_id}/command")
async def send_command(session: Session, body: AgentCommand) -> AgentCommandAnswer:
    """Send a command to an agent and wait for its answer.

    `status` is `applied`, or `accepted` for what takes effect later (a pause, before the next model
    call). A rejected command is 400, one whose stop is over 409.
    """
    data = body.data if body.lane is None else {**body.data, "lane": body.lane}
    return await session.agent.command(body.type, data, body.timeout)


@routes.get("/sessions/{session_id}/state")
async def get_state(session: Session, query: AgentStateQuery) -> AgentInspection:
    """What an agent says of itself: messages, context, tools, or all of it."""
    return await session.agent.inspect(query)


@routes.get("/sessions/{session_id}/contents/{cid}")
async def get_content(session: Session, cid: str) -> RecordedBody:
    """A body that an event names by its content id: JSON as it is, anything else as bytes.

    Pickles are given out as they are stored; nothing here ever loads one.
    """
    body, is_json = await session.agent.read_content(cid)
    kind = "application/json" if is_json else "application/octet-stream"
    return Response(body, media_type=kind, headers={"x-content-type-options": "nosniff"})
