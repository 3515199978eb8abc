"""Agents that make themselves known: those whose directory the server would not find."""

from __future__ import annotations

from holdfast.server.rest import bodies
from holdfast.server.rest.shared import Answer, ServiceHere, router, shows

routes = router()
_FOLLOWED = {
    "session_id": "debug_20260123_131000_abc123",
    "status": "running",
    "kind": "agent",
    "name": "my-agent",
    "iteration": 0,
    "holds": [],
    "directory": "/code/agents/sessions/debug_20260123_131000_abc123",
}


@routes.post("/agents", status_code=201, responses={201: shows(_FOLLOWED)[200]})
async def follow(service: ServiceHere, body: bodies.AgentDirectory) -> Answer:
    """Follow the agent session in a directory outside the server's own.

    It must be the caller's own and hold a `session.json` with the directory's name as its `id`.
    Naming one that is followed already changes nothing.
    """
    return Answer((await service.agents.follow(body.directory)).summary(), 201)
