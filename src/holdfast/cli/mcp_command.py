"""`holdfast mcp`: the MCP server that an agent's client starts, over stdin and stdout.

It only carries messages to the server, which is the MCP server: the one that runs, or else one that
it starts. When it ends, everything that the agent has started has ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
from typing import Annotated, Any

import typer

from holdfast import timings
from holdfast.cli.server_access import Url, complain
from holdfast.cli.server_start import RunningServer, ensure_server
from holdfast.cli.stdio_carrier import Streams, carry, find_token, on_signals, open_standard_streams
from holdfast.client import discovery, server_check
from holdfast.client.http_client import require_loopback

_UNUSED_SECONDS = 1.5
_MAX_LINE_BYTES = 64 * 1024 * 1024
_FOR_US = b'{"holdfast"'
"""How lines begin that are not the agent's."""
_SECRETS = ("HOLDFAST_TOKEN",)


def serve_agent(
    cwd: Annotated[
        str | None, typer.Option(help="The directory that paths are relative to. Default: this.")
    ] = None,
    url: Url = None,
) -> None:
    """Be the MCP server of an agent. docs/mcp.md has one-line configurations for many."""
    raise typer.Exit(asyncio.run(_Carrier(url, os.path.abspath(cwd or os.getcwd())).run()))


def connect_to_door(port: int) -> socket.socket:
    """Connect to the door of a server that has shown already that it is the user's.

    It may have ended since. Another user's program at its port is told nothing, if the kernel
    can say whose that is."""
    place = "127.0.0.1", port
    try:
        sock = server_check.connect(socket.AF_INET, place, timings.TIMINGS.door_opens)
    except OSError as problem:
        complain(f"the server does not answer at {place[0]}:{port}: {problem}")
    if server_check.is_served_by_another(sock):
        sock.close()
        complain(f"the server at {place[0]}:{port} is not yours: nothing was sent to it")
    return sock


class _Carrier:
    def __init__(self, url: str | None, cwd: str) -> None:
        self._url = url
        self._cwd = cwd
        self._stopped = asyncio.Event()
        """Set when the agent is done: it sends or reads no more, or this process is to end."""
        self._farewell: dict[str, Any] | None = None
        """The last that the server has said to us."""

    async def run(self) -> int:
        """Carry until either side is done; the exit code."""
        on_signals(self._stopped.set)
        starting = asyncio.create_task(asyncio.to_thread(self._find_server))
        agent = await open_standard_streams("An agent's client")
        server = await starting
        await self._carry_both_ways(agent, await self._connect(server))
        farewell = self._farewell or {"error": "the server is gone"}
        if farewell.get("is_server_ending") and server.process is not None:
            await asyncio.to_thread(_wait_until_gone, server.process)
        if "error" not in farewell:
            return 0
        print(f"holdfast mcp: {farewell['error']}", farewell.get("hint", ""), file=sys.stderr)
        return 1

    # -- the server -------------------------------------------------------------------------

    def _find_server(self) -> RunningServer:
        try:
            require_loopback(discovery.server_url(self._url))
        except ValueError as problem:
            complain(str(problem), "An agent elsewhere uses the address of the server, with /mcp.")
        return ensure_server(self._url, unused_seconds=_UNUSED_SECONDS)

    async def _connect(self, server: RunningServer) -> Streams:
        if not server.info.get("mcp_port"):
            complain("the server that runs has no door for agents", "Restart it: it is older.")
        sock = connect_to_door(int(server.info["mcp_port"]))
        sock.setblocking(False)
        reader, writer = await asyncio.open_connection(sock=sock, limit=_MAX_LINE_BYTES)
        writer.write(json.dumps({"holdfast": self._build_hello(server)}).encode() + b"\n")
        return Streams(reader, writer)

    def _build_hello(self, server: RunningServer) -> dict[str, Any]:
        return {
            "cwd": self._cwd,
            "environ": {name: os.environ[name] for name in os.environ if name not in _SECRETS},
            "token": find_token(server.url),
            "owns_server": server.process is not None,
        }

    # -- messages ---------------------------------------------------------------------------

    async def _carry_both_ways(self, agent: Streams, server: Streams) -> None:
        """Return when the server has ended what the agent has started, or is gone."""
        sending = asyncio.create_task(carry(agent.reader, server.writer))
        sending.add_done_callback(lambda _: self._stopped.set())
        receiving = asyncio.create_task(self._carry_answers(server.reader, agent.writer))
        stopped = asyncio.create_task(self._stopped.wait())
        await asyncio.wait([stopped, receiving], return_when=asyncio.FIRST_COMPLETED)
        sending.cancel()
        if not server.writer.is_closing():
            server.writer.write_eof()
        await asyncio.wait([receiving], timeout=timings.TIMINGS.server_ends)
        for task in (stopped, receiving):
            task.cancel()
        server.writer.close()
        agent.writer.close()

    async def _carry_answers(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Carry messages to the agent, and take what the server says to us."""
        with contextlib.suppress(OSError, ValueError):  # it is gone, or sends nonsense
            while line := await reader.readline():
                if line.startswith(_FOR_US):
                    self._take(json.loads(line)["holdfast"])
                else:
                    await self._pass_on(line, writer)

    async def _pass_on(self, line: bytes, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            if not writer.is_closing():
                writer.write(line)
                await writer.drain()
                return
        self._stopped.set()  # the agent reads no more

    def _take(self, facts: dict[str, Any]) -> None:
        if "welcome" not in facts:
            self._farewell = facts


def _wait_until_gone(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timings.TIMINGS.server_ends)


app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
app.command()(serve_agent)
