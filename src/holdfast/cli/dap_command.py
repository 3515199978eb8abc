"""`holdfast dap`: a debug adapter for an editor that starts it, over stdin and stdout or a port.

It only carries messages to the server, which is the adapter: the one that runs, or else one that
it starts. That is a process of its own, because other editors and agents find it and use it as
well. It ends when nobody does.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import IO, Annotated, Any
from urllib.parse import urlsplit

import typer

from holdfast.cli.server_access import Url, complain
from holdfast.client import discovery
from holdfast.client.exceptions import DebugError, DebugServerError
from holdfast.client.http_client import ApiError, HttpClient, require_loopback
from holdfast.wire import dap

_CHUNK = 1 << 16
_MAX_BYTES = 16 * 1024 * 1024
_JOINS = ("launch", "attach")
_START_SECONDS = 20.0
_RUN_SERVER = """
import sys
sys.path[:] = filter(None, sys.path)  # the directory of the editor may have any modules
from holdfast.cli import main
main()
"""


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
        streams = None if self._address else await _open_standard_streams()
        await _run_until_signalled(self._reach_server(streams))

    async def _reach_server(self, streams: _Streams | None) -> None:
        lobby = await asyncio.to_thread(self._find_lobby)
        if lobby is None:
            lobby = await self._start_server()
        await self._carry(lobby, streams)

    # -- the server -------------------------------------------------------------------------

    def _find_lobby(self) -> _Lobby | None:
        """The adapter of the running server; None if none runs."""
        chosen = discovery.chosen_url(self._url)
        where = discovery.server_url(self._url)
        if chosen is None and discovery.announced_url() is None:
            return None
        try:
            require_loopback(where)
            info = HttpClient(where, follows=chosen is None).request("GET", "/info")
        except DebugServerError as problem:
            if chosen is None and problem.start_command:
                return None
            complain(problem.message)
        except (ApiError, DebugError, ValueError) as problem:
            complain(str(problem), "Editors reach a server on their own machine only.")
        if not info.get("dap_port"):
            complain("the server that runs has no door for editors", "Restart it: it is older.")
        return _Lobby(int(info["dap_port"]), {**self._more, **_find_token(where)})

    async def _start_server(self) -> _Lobby:
        """Start a server that ends when nobody uses it any more."""
        deadline = asyncio.get_running_loop().time() + _START_SECONDS
        with tempfile.TemporaryFile() as complaints:
            server = _spawn_server(complaints)
            lobby = None
            while lobby is None:
                if asyncio.get_running_loop().time() > deadline:
                    complaints.seek(0)
                    said = complaints.read().decode(errors="replace").strip()
                    how = "does not answer" if server.poll() is None else "could not start"
                    complain(f"the server for this editor {how}: {said}")
                await asyncio.sleep(0.1)
                lobby = await asyncio.to_thread(self._find_lobby)
        return lobby  # perhaps of another adapter that was quicker

    # -- the editor -------------------------------------------------------------------------

    async def _carry(self, lobby: _Lobby, streams: _Streams | None) -> None:
        if streams is not None:
            await _connect(streams, lobby)
            return
        assert self._address is not None
        from holdfast.server.peers import is_same_user

        came: asyncio.Future[_Streams] = asyncio.get_running_loop().create_future()

        def welcome(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            # The server takes whoever comes this way for us.
            ends = (writer.get_extra_info(end) for end in ("peername", "sockname"))
            if came.done() or not is_same_user(*ends):
                writer.close()
            else:
                came.set_result(_Streams(reader, writer))

        try:
            server = await asyncio.start_server(welcome, *self._address)
        except OSError as problem:
            complain(f"cannot listen at {self._address[0]}:{self._address[1]}: {problem.strerror}")
        async with server:
            await _connect(await came, lobby)


def _spawn_server(complaints: IO[bytes]) -> subprocess.Popen[bytes]:
    """It is no child of the editor's: an editor ends all of those when it is done."""
    return subprocess.Popen(
        [sys.executable, "-c", _RUN_SERVER, "serve", "--until-unused"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=complaints,
        start_new_session=True,
    )


def _find_token(url: str) -> dict[str, str]:
    """What the server wants to be told, if it wants a token."""
    given = os.environ.get("HOLDFAST_TOKEN")
    if given:
        return {"token": given}
    announced = discovery.announced_token()
    if announced is None or urlsplit(announced[0]).port != urlsplit(url).port:
        return {}
    return {"token": announced[1]}


# -- carrying messages ----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Streams:
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter


def _divert_standard_streams() -> tuple[IO[bytes], IO[bytes]]:
    """Stdin and stdout, for messages only: whatever else is written goes to stderr."""
    stdin, stdout = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    return os.fdopen(stdin, "rb", 0), os.fdopen(stdout, "wb", 0)


async def _open_standard_streams() -> _Streams:
    loop = asyncio.get_running_loop()
    stdin, stdout = _divert_standard_streams()
    reader = asyncio.StreamReader()
    try:
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), stdin)
        transport, flow = await loop.connect_write_pipe(
            lambda: asyncio.streams.FlowControlMixin(loop), stdout
        )
    except ValueError:
        complain("stdin and stdout have to be pipes", "An editor starts this command.")
    return _Streams(reader, asyncio.StreamWriter(transport, flow, None, loop))


async def _connect(editor: _Streams, lobby: _Lobby) -> None:
    """Carry messages both ways until one side is gone."""
    reader, writer = await asyncio.open_connection("127.0.0.1", lobby.port)
    ways = [
        asyncio.create_task(_carry_requests(editor.reader, writer, lobby.more)),
        asyncio.create_task(_carry_answers(reader, editor.writer)),
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
        while data := await reader.read(_CHUNK):
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


async def _carry_answers(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()


async def _run_until_signalled(work: Awaitable[None]) -> None:
    """Run it until it ends, or this process is asked to."""
    task = asyncio.ensure_future(work)
    loop = asyncio.get_running_loop()
    cancel: Callable[[], object] = task.cancel
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await task


app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
app.command()(serve_editor)
