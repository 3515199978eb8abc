"""The door for agents: a port on loopback to which `holdfast mcp` carries their messages."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import logging

from holdfast import errors
from holdfast.server.mcp.agent_connection import MAX_MESSAGE_BYTES, AgentConnection
from holdfast.server.unused_server import is_used
from holdfast.service.debugger import Debugger

log = logging.getLogger(__name__)
_MAX_AGENTS = 64


class AgentDoor:
    """`token` is what an agent's carrier must know, if there is one."""

    def __init__(self, debugger: Debugger, token: str | None = None) -> None:
        self.port = 0
        self.debugger = debugger
        self._token = token
        self._trusted = debugger.programs.trusted
        self._server: asyncio.Server | None = None
        self._agents: set[asyncio.Task[None]] = set()
        self._closing: set[asyncio.Task[None]] = set()

    async def open(self) -> int:
        """Listen, on loopback only; the port."""
        self._server = await asyncio.start_server(
            self._welcome, "127.0.0.1", 0, limit=MAX_MESSAGE_BYTES
        )
        self.port = self._server.sockets[0].getsockname()[1]
        return self.port

    async def close(self) -> None:
        """Stop listening, and end what the agents that are in have started."""
        if self._server is not None:
            self._server.close()
        agents, self._closing = self._agents - self._closing, set(self._agents)
        for task in agents:
            task.cancel()
        if self._agents:
            await asyncio.wait(self._agents)

    @property
    def has_agents(self) -> bool:
        return bool(self._agents)

    def check_token(self, given: object) -> None:
        if self._token is None:
            return
        text = given if isinstance(given, str) else ""
        if not hmac.compare_digest(self._token.encode(), text.encode()):
            raise errors.NotAuthorized(
                "this server wants a token", hint="Set HOLDFAST_TOKEN for `holdfast mcp`."
            )

    async def _welcome(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Only the same user comes in."""
        ends = (writer.get_extra_info(end) for end in ("peername", "sockname"))
        task = asyncio.current_task()
        assert task is not None
        if len(self._agents) >= _MAX_AGENTS or not self._trusted(*ends):
            writer.transport.abort()
            return
        self._agents.add(task)
        connection = AgentConnection(self, reader, writer)
        try:
            # Cancelled by `close`, which waits for this to end.
            with contextlib.suppress(asyncio.CancelledError):
                await connection.serve()
        except Exception:  # whatever an agent sends, the door stays open
            log.exception("the connection of an agent failed")
        finally:
            await connection.end_sessions()
            self._agents.discard(task)
            connection.say_goodbye()

    def stop_if_unused(self) -> bool:
        """Stop the server, because the agent that it was started for has left.

        False if others use it: then it ends after them."""
        if is_used(self.debugger):
            return False
        self.debugger.stop_requested.set()
        return True
