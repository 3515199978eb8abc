"""The programs that were launched lately, to be launched again."""

from __future__ import annotations

from holdfast.server.route_table import RouteList
from holdfast.service.debugger import Debugger
from holdfast.wire.program_answers import LaunchList
from holdfast.wire.program_requests import LaunchesQuery
from holdfast.wire.session_answers import DeletedCount

routes = RouteList("/api")


@routes.get("/launches")
async def list_launches(debugger: Debugger, query: LaunchesQuery) -> LaunchList:
    """The programs that were launched lately, each once, newest first; 50 are remembered.

    They outlive their sessions and the server. Values of the environment are not kept."""
    return debugger.programs.launches.list(query.limit)


@routes.delete("/launches")
async def forget_launches(debugger: Debugger) -> DeletedCount:
    """Forget them all."""
    return DeletedCount(await debugger.programs.launches.clear())
