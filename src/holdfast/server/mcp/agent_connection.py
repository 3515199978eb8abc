"""One agent's connection: its messages in and out, and the end of all that it has started.

The first line is the carrier's: in which directory and environment the agent works. Then each line
is a message of the protocol. Lines that begin with `{"holdfast"` are for the carrier.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import json
import logging
from typing import TYPE_CHECKING, Any

import msgspec

from holdfast import errors, timings
from holdfast.service.tools.tool_client import ToolClient

if TYPE_CHECKING:
    from holdfast.server.mcp.agent_door import AgentDoor

log = logging.getLogger(__name__)
MAX_MESSAGE_BYTES = 32 * 1024 * 1024


class Hello(msgspec.Struct):
    """What a carrier says first."""

    cwd: str
    environ: dict[str, str] = {}
    token: str | None = None
    owns_server: bool = False
    """Whether the carrier has started this server, for itself."""


class _Greeting(msgspec.Struct):
    holdfast: Hello


class AgentConnection:
    def __init__(
        self, door: AgentDoor, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._door = door
        self._reader = reader
        self._writer = writer
        self._hello: Hello | None = None
        self._client: ToolClient | None = None

    async def serve(self) -> None:
        """Answer the agent until it leaves."""
        try:
            hello = await self._read_hello()
        except errors.HoldfastError as problem:
            self._tell(error=problem.message, hint=problem.hint)
            return
        self._hello = hello
        self._client = ToolClient("mcp", hello.cwd, hello.environ)
        self._tell(welcome=True)
        with contextlib.suppress(OSError, ValueError):  # it is gone, or sends a line without end
            first = await self._reader.readline()
            if first:
                await self._serve(self._client, first)

    async def _serve(self, client: ToolClient, first: bytes) -> None:
        streams = await asyncio.to_thread(_import_streams)
        lines = streams.Lines(self._reader, self._writer, first)
        await streams.serve_agent(self._door.debugger, client, lines)

    async def _read_hello(self) -> Hello:
        try:
            line = await asyncio.wait_for(self._reader.readline(), timings.TIMINGS.agent_hello)
            hello = msgspec.json.decode(line, type=_Greeting).holdfast
        except (asyncio.TimeoutError, ValueError, OSError):
            raise errors.InvalidInput(
                "this is no agent's carrier", hint="Let `holdfast mcp` connect."
            ) from None
        self._door.check_token(hello.token)
        return hello

    def say_goodbye(self) -> None:
        """Close the connection, once all is done that the carrier waits for."""
        if self._hello is not None:
            is_ending = self._hello.owns_server and self._door.stop_if_unused()
            self._tell(is_server_ending=is_ending)
        with contextlib.suppress(OSError):
            self._writer.close()

    async def end_sessions(self) -> None:
        """End what the agent has started."""
        if self._client is None:
            return
        self._client.is_gone = True
        sessions, started = self._door.debugger.sessions, self._client.started
        while started:
            session_id = started.pop()
            try:
                await sessions.peek(session_id).delete()
            except errors.NotFound:
                continue  # the agent, or somebody else, has ended it
            except Exception:  # the other sessions have to end all the same
                log.exception("session %s of an agent that left could not be ended", session_id)

    def _tell(self, **facts: Any) -> None:
        """Something that is for the carrier only."""
        if not self._writer.is_closing():
            self._writer.write(json.dumps({"holdfast": facts}).encode() + b"\n")


def _import_streams() -> Any:
    """The SDK takes most of a second to import; other requests are answered meanwhile."""
    return importlib.import_module("holdfast.server.mcp.agent_streams")
