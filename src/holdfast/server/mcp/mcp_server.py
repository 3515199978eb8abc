"""The MCP server: one object of the official SDK, with a handler for each request.

It serves both eras of the protocol: with a handshake (up to 2025-11-25), and without (2026-07-28).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mcp_types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from holdfast import errors
from holdfast.model.version import VERSION
from holdfast.server.mcp import prompts, resources, tool_calls
from holdfast.server.mcp.tool_schemas import build_tools
from holdfast.service.debugger import Debugger
from holdfast.service.tools.tool_client import ToolClient

Context = ServerRequestContext[Any, Any]
FindClient = Callable[[Context], ToolClient]
"""Whose request it is."""
_TOOLS = build_tools()
_FIRST_STATELESS = "2026-07-28"
_RESOURCE_NOT_FOUND = -32002
"""Before that."""


def build_server(debugger: Debugger, find_client: FindClient) -> Server[Any]:
    handlers = _Handlers(debugger, find_client)
    server: Server[Any] = Server(
        "holdfast",
        version=VERSION,
        title="Holdfast",
        instructions=prompts.INSTRUCTIONS,
        # Without this, every call over HTTP lists the tools first (2026-07-28).
        get_tool_input_schema=lambda name: _TOOLS[name].input_schema if name in _TOOLS else None,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
    )
    server.middleware.clear()  # spans of each request, which nobody collects and every step pays
    return server


class _Handlers:
    def __init__(self, debugger: Debugger, find_client: FindClient) -> None:
        self._debugger = debugger
        self._find_client = find_client

    async def list_tools(self, ctx: Context, params: object) -> mcp_types.ListToolsResult:
        """All on one page: some clients read only the first."""
        return mcp_types.ListToolsResult(tools=list(_TOOLS.values()))

    async def call_tool(
        self, ctx: Context, params: mcp_types.CallToolRequestParams
    ) -> mcp_types.CallToolResult:
        client = self._find_client(ctx)
        arguments = params.arguments or {}
        return await tool_calls.call_tool(self._debugger, client, ctx, params.name, arguments)

    async def list_resources(
        self, ctx: Context, params: mcp_types.PaginatedRequestParams | None
    ) -> mcp_types.ListResourcesResult:
        try:
            page, following = await resources.list_resources(
                self._debugger, params.cursor if params else None
            )
        except errors.InvalidInput as problem:
            raise MCPError(mcp_types.INVALID_PARAMS, problem.message) from None
        return mcp_types.ListResourcesResult(resources=page, next_cursor=following)

    async def list_templates(
        self, ctx: Context, params: object
    ) -> mcp_types.ListResourceTemplatesResult:
        return mcp_types.ListResourceTemplatesResult(resource_templates=resources.list_templates())

    async def read_resource(
        self, ctx: Context, params: mcp_types.ReadResourceRequestParams
    ) -> mcp_types.ReadResourceResult:
        uri = str(params.uri)
        try:
            contents = await resources.read_resource(self._debugger, uri)
        except errors.HoldfastError as problem:
            is_stateless = ctx.protocol_version >= _FIRST_STATELESS
            code = mcp_types.INVALID_PARAMS if is_stateless else _RESOURCE_NOT_FOUND
            raise MCPError(code, f"{problem.message}. {problem.hint}", {"uri": uri}) from None
        return mcp_types.ReadResourceResult(contents=[contents])

    async def list_prompts(self, ctx: Context, params: object) -> mcp_types.ListPromptsResult:
        return mcp_types.ListPromptsResult(prompts=prompts.list_prompts())

    async def get_prompt(
        self, ctx: Context, params: mcp_types.GetPromptRequestParams
    ) -> mcp_types.GetPromptResult:
        return prompts.get_prompt(params.name, params.arguments or {})
