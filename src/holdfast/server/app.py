"""The application: finds the route of a request, calls it, and answers in JSON.

It speaks ASGI. Every error is answered here, in one shape (`error_answers`).
"""

from __future__ import annotations

import errno
import logging
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from starlette.responses import RedirectResponse, Response
from starlette.routing import Router
from starlette.types import Receive, Scope, Send

from holdfast import errors
from holdfast.server import openapi
from holdfast.server.access_control import CONNECTION, client_disconnected
from holdfast.server.error_answers import error_body, flat_error_body, status_of
from holdfast.server.http_protocol import BoundedHttpProtocol
from holdfast.server.mcp import http_endpoint
from holdfast.server.mcp.http_endpoint import McpEndpoint
from holdfast.server.page.page_files import PageFiles
from holdfast.server.rest import (
    agent_directory_routes,
    agent_routes,
    breakpoint_routes,
    call_breakpoint_routes,
    call_record_routes,
    call_routes,
    capture_routes,
    event_routes,
    execution_routes,
    hold_routes,
    inspection_routes,
    launch_routes,
    live_routes,
    management_routes,
    session_routes,
    stream_routes,
    tool_routes,
    trace_routes,
)
from holdfast.server.route_table import Incoming, Route, RouteTable, build_route, read_body
from holdfast.service.debugger import Debugger
from holdfast.wire import rest

log = logging.getLogger(__name__)
_PREFIX = "/api/v1"
ROUTE_MODULES = (
    tool_routes,
    session_routes,
    execution_routes,
    breakpoint_routes,
    inspection_routes,
    launch_routes,
    stream_routes,
    hold_routes,
    call_routes,
    call_breakpoint_routes,
    call_record_routes,
    capture_routes,
    trace_routes,
    agent_routes,
    agent_directory_routes,
    event_routes,
    live_routes,
    management_routes,
)


def build_table() -> tuple[RouteTable, list[Route]]:
    """Every route, and those that the documents list.

    Each route stands at two paths: below the prefix of its module, and below `/api/v1` instead.
    """
    table = RouteTable()
    listed = []
    for module in ROUTE_MODULES:
        for route in module.routes.routes:
            listed.append(build_route(route, module.routes.prefix + route.path))
            table.add(listed[-1])
            table.add(build_route(route, _PREFIX + route.path))
    return table, listed


def create_app(debugger: Debugger, *, is_loopback: bool = True) -> Application:
    table, listed = build_table()
    for route in openapi.build_routes(listed, ROUTE_MODULES):
        table.add(build_route(route, route.path))
    mcp = http_endpoint.build_endpoint(debugger, is_loopback=is_loopback)
    return Application(debugger, table, mcp)


class Application:
    """The ASGI application: routes requests to the debugger."""

    def __init__(self, debugger: Debugger, table: RouteTable, mcp: McpEndpoint) -> None:
        self._debugger = debugger
        self._table = table
        self._mcp = mcp
        self._page = PageFiles()
        self._life = Router(lifespan=self._manage_lifespan)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._life(scope, receive, send)
            return
        self._debugger.request_count += 1
        if scope["path"] == http_endpoint.PATH:
            await self._serve_agent(scope, receive, send)
            return
        if self._page.serves(scope):
            await self._page(scope, receive, send)
            return
        try:
            response = await self._answer(scope, receive)
            if response is None:
                return
        except Exception as error:  # an unexpected error must not close the connection
            if client_disconnected(scope):
                return
            response = _answer_unforeseen(scope, error)
        try:
            await _send(response, scope, receive, send)
        except Exception:  # expected if the client disconnected during the answer
            if not client_disconnected(scope):
                raise

    async def _serve_agent(self, scope: Scope, receive: Receive, send: Send) -> None:
        """An agent speaks a protocol of its own, which answers its own errors."""
        try:
            await self._mcp.prepare()
        except Exception as error:  # such as an SDK that cannot be imported
            await _send(_answer_unforeseen(scope, error), scope, receive, send)
            return
        await self._mcp(scope, receive, send)

    @asynccontextmanager
    async def _manage_lifespan(self, _app: object) -> AsyncIterator[None]:
        await self._debugger.start()
        try:
            yield
        finally:
            await self.close_streams()
            await self._debugger.close()

    async def close_streams(self) -> None:
        """End what agents listen to, because the server stops."""
        await self._mcp.close()

    async def _answer(self, scope: Scope, receive: Receive) -> Response | JsonResponse | None:
        """The answer that is to be sent; None if it has been sent."""
        parts = scope["path"][1:].split("/")
        route = self._table.find(scope["method"], parts)
        if route is None:
            return self._answer_no_route(scope, parts)
        try:
            body = await read_body(receive) if route.reads_body else b""
            answer = await route.call(Incoming(self._debugger, scope, parts, body))
        except errors.HoldfastError as error:
            if isinstance(error, errors.NoDescriptors):
                self._debugger.warn_of_exhaustion(error)
            return _answer_error(error, is_flat=route.flat_errors)
        except OSError as problem:
            if problem.errno not in (errno.EMFILE, errno.ENFILE):
                raise
            exhausted = errors.NoDescriptors(f"no file descriptor is left: {problem}")
            self._debugger.warn_of_exhaustion(exhausted)
            return _answer_error(exhausted, is_flat=route.flat_errors)
        if isinstance(answer, Response):
            return answer
        encoded = rest.encode(answer)
        if route.at_once and CONNECTION in scope:
            connection: BoundedHttpProtocol = scope[CONNECTION]
            if connection.answer_at_once(scope, route.status, encoded):
                return None
        return route.status, encoded, ()

    def _answer_no_route(self, scope: Scope, parts: list[str]) -> Response | JsonResponse:
        method, path = scope["method"], scope["path"]
        allowed = self._table.methods(parts)
        if allowed:
            error = errors.NotAllowed(
                f"{method} is not possible at {path}", method=method, allowed=allowed
            )
            headers = [(b"allow", ", ".join(allowed).encode())]
            return 405, rest.encode(error_body(error)), headers
        if len(parts) > 1 and not parts[-1] and self._table.methods(parts[:-1]):
            query = scope["query_string"].decode("latin-1")
            return RedirectResponse(path.rstrip("/") + (f"?{query}" if query else ""))
        return _answer_error(errors.NotFound(f"no route {path}", path=path))


async def _send(
    response: Response | JsonResponse, scope: Scope, receive: Receive, send: Send
) -> None:
    if isinstance(response, Response):
        await response(scope, receive, send)
        return
    status, body, headers = response
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % len(body)),
        *headers,
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


JsonResponse = tuple[int, bytes, Any]
"""Status, body, and headers beside those of every answer."""


def _answer_error(error: errors.HoldfastError, *, is_flat: bool = False) -> JsonResponse:
    status = status_of(error)
    if is_flat and status < 500:
        return status, rest.encode(flat_error_body(error)), ()
    reference = None
    if isinstance(error, errors.Failure) or status == 500:
        reference = secrets.token_hex(4)
        log.error("%s: %s", reference, error.message)
    return status, rest.encode(error_body(error, reference)), ()


def _answer_unforeseen(scope: Scope, error: Exception) -> JsonResponse:
    reference = secrets.token_hex(4)
    request = f"{scope['method']} {scope['path']}"
    log.error("%s: %s", reference, request, exc_info=error)
    problem = errors.HoldfastError(
        f"the server failed to answer {request}", reason=type(error).__name__
    )
    return 500, rest.encode(error_body(problem, reference)), ()
