"""The tools for agents over HTTP: the same requests and answers as over MCP."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from holdfast.server.route_table import RouteList
from holdfast.service.debugger import Debugger
from holdfast.service.tools.tool_table import TOOLS, Tool
from holdfast.wire.report_answers import Report
from holdfast.wire.tool_requests import DebugRun, ToolQuery

routes = RouteList()


@routes.post("/run")
async def run(debugger: Debugger, query: ToolQuery, body: DebugRun) -> Report:
    """One whole experiment: run a program to its first stop, its crash or its end."""
    client = debugger.tools.find_client(query.client, query.cwd)
    answer = (await debugger.tools.call("debug_run", body, client)).answer
    assert isinstance(answer, Report)
    return answer


def _add_tool_route(tool: Tool) -> None:
    async def call(debugger: Debugger, query: ToolQuery, body: Any) -> Any:
        client = debugger.tools.find_client(query.client, query.cwd)
        return (await debugger.tools.call(tool.name, body, client)).answer

    call.__annotations__.update({"body": tool.request, "return": tool.answer})
    handler: Callable[..., Awaitable[Any]] = call
    routes.post(f"/tools/{tool.name}", meaning=tool.request.__doc__ or "")(handler)


for _tool in TOOLS.values():
    _add_tool_route(_tool)
