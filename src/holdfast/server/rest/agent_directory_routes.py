"""Agents that make themselves known: those whose directory the server would not find."""

from __future__ import annotations

from holdfast.server.route_table import RouteList
from holdfast.service.debugger import Debugger
from holdfast.wire.agent_answers import AgentSummary
from holdfast.wire.session_requests import AgentDirectory

routes = RouteList("/api")


@routes.post("/agents", status=201)
async def follow(debugger: Debugger, body: AgentDirectory) -> AgentSummary:
    """Follow the agent session in a directory outside the server's own.

    It must be the caller's own and hold a `session.json` with the directory's name as its `id`.
    Naming one that is followed already changes nothing.
    """
    return (await debugger.agents.follow(body.directory)).summary()
