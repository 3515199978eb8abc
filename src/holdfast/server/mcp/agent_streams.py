"""Serves an agent over a stream of lines: each is one message of the protocol."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import anyio
import mcp_types
from mcp.shared.message import SessionMessage

from holdfast import timings
from holdfast.server.mcp.mcp_server import build_server
from holdfast.server.mcp.tool_calls import wait_for_abandoned_calls
from holdfast.service.debugger import Debugger
from holdfast.service.tools.tool_client import ToolClient

_CLOSED = (anyio.BrokenResourceError, anyio.ClosedResourceError)


async def serve_agent(debugger: Debugger, client: ToolClient, lines: Lines) -> None:
    """Serve until the agent closes its end, or does not read any more."""
    server = build_server(debugger, lambda ctx: client)
    to_server, read_stream = anyio.create_memory_object_stream[Any](0)
    write_stream, from_server = anyio.create_memory_object_stream[Any](0)
    try:
        async with anyio.create_task_group() as tasks:

            async def send() -> None:
                await lines.send_all(from_server)
                tasks.cancel_scope.cancel()

            tasks.start_soon(lines.receive_all, to_server)
            tasks.start_soon(send)
            with contextlib.suppress(*_CLOSED):
                await server.run(read_stream, write_stream, server.create_initialization_options())
            tasks.cancel_scope.cancel()
    finally:
        await wait_for_abandoned_calls(client)


class Lines:
    """Messages in and out, and which requests have no answer yet. `first` has been read already."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, first: bytes = b""
    ) -> None:
        self._first = first
        self._reader = reader
        self._writer = writer
        self._open: set[mcp_types.RequestId] = set()
        self._answered = asyncio.Event()

    async def receive_all(self, to_server: Any) -> None:
        async with to_server:
            with contextlib.suppress(*_CLOSED, OSError, ValueError):  # a line that is too long
                line = self._first or await self._reader.readline()
                while line:
                    if line.strip():
                        await to_server.send(self._parse(line))
                    line = await self._reader.readline()
            await self._wait_for_last_answers()

    def _parse(self, line: bytes) -> SessionMessage | Exception:
        try:
            message = mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValueError as problem:
            return problem
        if isinstance(message, mcp_types.JSONRPCRequest):
            self._open.add(message.id)
        elif isinstance(message, mcp_types.JSONRPCNotification):
            self._note_cancelled(message)
        return SessionMessage(message)

    def _note_cancelled(self, message: mcp_types.JSONRPCNotification) -> None:
        """A request that was cancelled gets no answer."""
        cancelled = (message.params or {}).get("requestId")
        if message.method == "notifications/cancelled" and isinstance(cancelled, int | str):
            self._open.discard(cancelled)

    async def _wait_for_last_answers(self) -> None:
        """Whoever sends requests and closes its end at once gets what can be answered quickly."""
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._wait_until_answered(), timings.TIMINGS.last_answers)

    async def _wait_until_answered(self) -> None:
        while self._open:
            self._answered.clear()
            await self._answered.wait()

    async def send_all(self, from_server: Any) -> None:
        """Return when the agent does not read any more."""
        async with from_server:
            async for out in from_server:
                data = out.message.model_dump_json(by_alias=True, exclude_unset=True)
                self._writer.write(data.encode() + b"\n")
                try:
                    await self._writer.drain()
                except OSError:
                    return
                self._note_sent(out.message)

    def _note_sent(self, message: Any) -> None:
        if isinstance(message, mcp_types.JSONRPCResponse | mcp_types.JSONRPCError):
            self._open.discard(message.id)
            self._answered.set()
