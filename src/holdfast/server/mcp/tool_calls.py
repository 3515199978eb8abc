"""Calls a tool for an agent: checks what it gave, tells it while it waits, and answers.

A call runs in a task of its own. When the agent cancels it, or goes away, the wait ends and the
operation comes to its own end. So a session is never left half way, and lives on.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
import secrets
from typing import TYPE_CHECKING, Any

import mcp_types
import msgspec
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

from holdfast import errors, timings
from holdfast.server.error_answers import ErrorAnswer, error_body
from holdfast.server.request_parser import convert
from holdfast.service.tools.tool_client import ToolClient
from holdfast.service.tools.tool_table import TOOLS
from holdfast.service.waitable import CLIENT_DISCONNECT
from holdfast.wire import rest
from holdfast.wire.plain_text import cut
from holdfast.wire.tool_answers import ToolResult

if TYPE_CHECKING:
    from holdfast.service.debugger import Debugger

Context = ServerRequestContext[Any, Any]
log = logging.getLogger(__name__)
PROGRESS_SECONDS = 2.0
_SAID_IN_WORDS = ("problems", "unknown", "nearest", "valid")
"""Details of an error that its message says, too. Only scripts read them."""
_MAX_MESSAGE = 400
_abandoned: dict[asyncio.Task[ToolResult], ToolClient] = {}
"""Calls that nobody waits for any more, and whose they were."""


async def call_tool(
    debugger: Debugger, client: ToolClient, ctx: Context, name: str, arguments: dict[str, Any]
) -> mcp_types.CallToolResult:
    """Call it. What goes wrong is a result, too: the model reads it and tries again."""
    tool = TOOLS.get(name)
    if tool is None:
        known = ", ".join(TOOLS)
        raise MCPError(mcp_types.INVALID_PARAMS, f"Unknown tool: {name}. There are: {known}")
    try:
        request = convert(arguments, tool.request)
        call = _Call(debugger.tools.call(name, request, client), client)
        result = await call.wait(ctx, tool.title, getattr(request, "timeout", None))
    except errors.HoldfastError as error:
        if isinstance(error, errors.NoDescriptors):
            debugger.warn_of_exhaustion(error)
        return _build_error(error_body(error))
    except Exception as problem:  # a fault of ours is told like any other, and ends nothing
        return _build_error(_log_unforeseen(name, problem))
    return mcp_types.CallToolResult(
        content=[mcp_types.TextContent(text=result.text)],
        structured_content=msgspec.to_builtins(result.answer),
    )


class _Call:
    """An operation that goes on, whether its agent waits for it or not."""

    def __init__(self, operation: Any, client: ToolClient) -> None:
        self._client = client
        self._gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        context = contextvars.copy_context()
        context.run(CLIENT_DISCONNECT.set, self._gone)
        self._task: asyncio.Task[ToolResult] = context.run(asyncio.create_task, operation)

    async def wait(self, ctx: Context, title: str, timeout: float | None) -> ToolResult:
        """What comes of it. The agent is told from time to time that it still goes on."""
        waited = 0.0
        connection = CLIENT_DISCONNECT.get()
        if connection is not None:  # over HTTP
            connection.add_done_callback(self._end_waits)
        try:
            while not (await asyncio.wait([self._task], timeout=PROGRESS_SECONDS))[0]:
                waited += PROGRESS_SECONDS
                await ctx.session.report_progress(waited, timeout, _describe_wait(title, waited))
        except asyncio.CancelledError:
            self._abandon()
            raise
        finally:
            if connection is not None:
                connection.remove_done_callback(self._end_waits)
        return self._task.result()

    def _end_waits(self, _connection: asyncio.Future[None] | None = None) -> None:
        """Nobody waits for the operation any more: it comes to its end."""
        if not self._gone.done():
            self._gone.set_result(None)

    def _abandon(self) -> None:
        self._end_waits()
        _abandoned[self._task] = self._client
        self._task.add_done_callback(_forget)


async def wait_for_abandoned_calls(client: ToolClient) -> None:
    """Wait until the calls that a client has abandoned have come to their end.

    One that was about to start a program has started it then, and the session is known."""
    tasks = [task for task, owner in _abandoned.items() if owner is client]
    if tasks:
        await asyncio.wait(tasks, timeout=timings.TIMINGS.abandoned_call)


def _forget(task: asyncio.Task[ToolResult]) -> None:
    del _abandoned[task]
    if not task.cancelled() and task.exception() is not None:
        log.debug("a call that was cancelled failed", exc_info=task.exception())


def _describe_wait(title: str, seconds: float) -> str:
    return f"{title}: still waiting after {seconds:.0f} s"


def _log_unforeseen(name: str, problem: Exception) -> ErrorAnswer:
    reference = secrets.token_hex(4)
    log.error("%s: tool %s", reference, name, exc_info=problem)
    error = errors.HoldfastError(f"the tool {name} failed", reason=type(problem).__name__)
    return error_body(error, reference)


def _build_error(answer: ErrorAnswer) -> mcp_types.CallToolResult:
    """An error: clients show its text to the model, and some its structure."""
    error = answer.error
    error.message = cut(error.message, _MAX_MESSAGE)
    error.details = {
        name: cut(value, _MAX_MESSAGE) if isinstance(value, str) else value
        for name, value in error.details.items()
    }
    others = [f"{one['field']}: {one['message']}" for one in error.details.get("problems", [])[1:]]
    lines = [error.message, *others, *([error.hint] if error.hint else []), f"({error.code})"]
    if error.details.get("possible"):
        lines.append(f"possible now: {', '.join(map(str, error.details['possible']))}")
    for name in _SAID_IN_WORDS:
        if not (name == "problems" and others):
            error.details.pop(name, None)
    return mcp_types.CallToolResult(
        content=[mcp_types.TextContent(text="\n".join(lines))],
        structured_content=msgspec.json.decode(rest.encode(answer)),
        is_error=True,
    )
