"""The SDK's manager of sessions over HTTP, and which client a request over HTTP comes from."""

from __future__ import annotations

from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings

from holdfast.server.mcp.mcp_server import build_server
from holdfast.server.mcp.plain_answers import PlainAnswers
from holdfast.service.debugger import Debugger
from holdfast.service.tools.tool_client import ToolClient

_NAMES = ("127.0.0.1", "localhost", "[::1]")
_MAX_SESSIONS = 256
_SESSION_HEADER = "mcp-session-id"


def build_manager(debugger: Debugger, *, is_loopback: bool) -> PlainAnswers:
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=is_loopback,
        allowed_hosts=[*_NAMES, *(f"{name}:*" for name in _NAMES)],
        allowed_origins=[f"http://{name}:*" for name in _NAMES],
    )
    server = build_server(debugger, _HttpClients(debugger).find)
    return PlainAnswers(
        lambda json_response: StreamableHTTPSessionManager(
            server,
            json_response=json_response,
            security_settings=security,
            max_sessions=_MAX_SESSIONS,
        )
    )


class _HttpClients:
    """A client for each MCP session, or for each name where the protocol has no sessions.

    `/mcp?client=NAME&cwd=DIR` says who asks, and from which directory, as for tools over REST."""

    def __init__(self, debugger: Debugger) -> None:
        self._debugger = debugger
        self._of_sessions: dict[str, ToolClient] = {}

    def find(self, ctx: ServerRequestContext[Any, Any]) -> ToolClient:
        request: Any = ctx.request
        name, cwd = request.query_params.get("client"), request.query_params.get("cwd")
        session_id = request.headers.get(_SESSION_HEADER)
        if name or session_id is None:
            return self._debugger.tools.find_client(name or _get_name(ctx), cwd)
        client = self._of_sessions.pop(session_id, None) or ToolClient(_get_name(ctx), cwd)
        self._of_sessions[session_id] = client
        while len(self._of_sessions) > _MAX_SESSIONS:
            del self._of_sessions[next(iter(self._of_sessions))]
        return client


def _get_name(ctx: ServerRequestContext[Any, Any]) -> str:
    known = ctx.session.client_params
    return known.client_info.name if known is not None else "mcp"
