"""`holdfast dap`: a debug adapter for an editor that starts it, over stdin and stdout or a port.

It only carries messages to the server, which is the adapter: the one that runs, or else one that
it starts. That is a process of its own, because other editors and agents find it and use it as
well. It ends when nobody does.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from dataclasses import dataclass, field
from typing import Annotated, Any

import typer

from holdfast.cli.server_access import Url, complain
from holdfast.cli.server_start import RunningServer, ensure_server
from holdfast.cli.stdio_carrier import (
    CHUNK_BYTES,
    Streams,
    carry,
    find_token,
    open_standard_streams,
    run_until_signalled,
)
from holdfast.client import discovery
from holdfast.client.http_client import require_loopback
from holdfast.wire import dap

_MAX_BYTES = 16 * 1024 * 1024
_JOINS = ("launch", "attach")
_UNUSED_SECONDS = 1.5


@dataclass(frozen=True)
class _Lobby:
    """Where the server's adapter is, and what every editor has to say there."""

    port: int
    more: dict[str, Any] = field(default_factory=dict)


def serve_editor(
    session: Annotated[
        str | None,
        typer.Option(help="Join this session: its id, its name, or `latest`."),
    ] = None,
    host: Annotated[str, typer.Option(help="With --port: the address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(help="Listen for one editor on this port, instead of stdin and stdout."),
    ] = None,
    url: Url = None,
    log_dir: Annotated[str | None, typer.Option(hidden=True)] = None,  # VS Code may give it
) -> None:
    """Be the debug adapter of an editor. docs/editors.md has configurations for several."""
    import uvloop

    uvloop.run(_Adapter(session, url, (host, port) if port is not None else None).run())


class _Adapter:
    def __init__(
        self, session: str | None, url: str | None, address: tuple[str, int] | None
    ) -> None:
        self._more = {"session": session} if session else {}
        self._url = url
        self._address = address

    async def run(self) -> None:
        streams = None if self._address else await open_standard_streams("An editor")
        await run_until_signalled(self._reach_server(streams))

    async def _reach_server(self, streams: Streams | None) -> None:
        server = await asyncio.to_thread(self._find_server)
        await self._carry(self._find_lobby(server), streams)

    # -- the server -------------------------------------------------------------------------

    def _find_server(self) -> RunningServer:
        try:
            require_loopback(discovery.server_url(self._url))
        except ValueError as problem:
            complain(str(problem), "Editors reach a server on their own machine only.")
        return ensure_server(self._url, unused_seconds=_UNUSED_SECONDS)

    def _find_lobby(self, server: RunningServer) -> _Lobby:
        """Where editors come in to the server."""
        if not server.info.get("dap_port"):
            complain("the server that runs has no door for editors", "Restart it: it is older.")
        port = int(server.info["dap_port"])
        token = find_token(server.url)
        return _Lobby(port, {**self._more, **({"token": token} if token else {})})

    # -- the editor -------------------------------------------------------------------------

    async def _carry(self, lobby: _Lobby, streams: Streams | None) -> None:
        if streams is not None:
            await _connect(streams, lobby)
            return
        assert self._address is not None
        from holdfast.server.peers import is_same_user

        came: asyncio.Future[Streams] = asyncio.get_running_loop().create_future()

        def welcome(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            # The server takes whoever comes this way for us.
            ends = (writer.get_extra_info(end) for end in ("peername", "sockname"))
            if came.done() or not is_same_user(*ends):
                writer.close()
            else:
                came.set_result(Streams(reader, writer))

        try:
            server = await asyncio.start_server(welcome, *self._address)
        except OSError as problem:
            complain(f"cannot listen at {self._address[0]}:{self._address[1]}: {problem.strerror}")
        async with server:
            await _connect(await came, lobby)


# -- carrying messages ----------------------------------------------------------------------------


async def _connect(editor: Streams, lobby: _Lobby) -> None:
    """Carry messages both ways until one side is gone."""
    reader, writer = await asyncio.open_connection("127.0.0.1", lobby.port)
    ways = [
        asyncio.create_task(_carry_requests(editor.reader, writer, lobby.more)),
        asyncio.create_task(carry(reader, editor.writer)),
    ]
    try:
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for way in ways:
            way.cancel()
        writer.close()
        with contextlib.suppress(OSError):
            editor.writer.close()


async def _carry_requests(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, more: dict[str, Any]
) -> None:
    """From the editor. What each has to say when it joins is added."""
    framer = dap.Framer(_MAX_BYTES, is_strict=True)
    with contextlib.suppress(OSError):
        while data := await reader.read(CHUNK_BYTES):
            try:
                messages = framer.feed(data)
            except dap.FramingError as problem:
                print(f"holdfast dap: this is no message: {problem}", file=sys.stderr)
                return
            for message in messages:
                writer.write(dap.encode(_add(message, more)))
            await writer.drain()


def _add(message: dap.Message, more: dict[str, Any]) -> dap.Message:
    arguments = message.get("arguments") or {}
    if not more or message.get("command") not in _JOINS or not isinstance(arguments, dict):
        return message
    return {**message, "arguments": {**more, **arguments}}


app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
app.command()(serve_editor)
