"""Several agents: those that make themselves known, and two runs compared."""

from __future__ import annotations

from holdfast.server.route_table import RouteList
from holdfast.service.debugger import Debugger
from holdfast.wire.agent_answers import AgentSummary
from holdfast.wire.conversation_answers import ComparedRuns
from holdfast.wire.session_requests import AgentDirectory, CompareQuery

routes = RouteList("/api")


@routes.post("/agents", status=201)
async def follow(debugger: Debugger, body: AgentDirectory) -> AgentSummary:
    """Follow the agent session in a directory outside the server's own.

    It must be the caller's own and hold a `session.json` with the directory's name as its `id`.
    Naming one that is followed already changes nothing.
    """
    return (await debugger.agents.follow(body.directory)).summary()


@routes.get("/agents/compare")
async def compare(debugger: Debugger, query: CompareQuery) -> ComparedRuns:
    """Two runs of agents side by side: every call of a model or tool beside its like.

    Random ids, durations and tokens make no difference. What a tool did inside itself is left out
    where the other run has that tool from a recording.
    """
    left, right = (debugger.sessions.get(each).agent for each in (query.left, query.right))
    return await left.compare(right, query)
