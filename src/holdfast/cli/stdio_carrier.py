"""Carries bytes between this process's stdin and stdout and a server."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import IO
from urllib.parse import urlsplit

from holdfast.cli.server_access import complain
from holdfast.client import discovery

CHUNK_BYTES = 1 << 16


@dataclass(frozen=True)
class Streams:
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter


async def open_standard_streams(starter: str) -> Streams:
    """Stdin and stdout. `starter` is who starts this command, and gives it pipes."""
    loop = asyncio.get_running_loop()
    stdin, stdout = _divert_standard_streams()
    reader = asyncio.StreamReader()
    try:
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), stdin)
        transport, flow = await loop.connect_write_pipe(
            lambda: asyncio.streams.FlowControlMixin(loop), stdout
        )
    except (ValueError, PermissionError):
        complain("stdin and stdout have to be pipes", f"{starter} starts this command.")
    return Streams(reader, asyncio.StreamWriter(transport, flow, None, loop))


def _divert_standard_streams() -> tuple[IO[bytes], IO[bytes]]:
    """Stdin and stdout, for messages only: whatever else is written goes to stderr."""
    stdin, stdout = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    return os.fdopen(stdin, "rb", 0), os.fdopen(stdout, "wb", 0)


async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Carry bytes until one of both is closed."""
    with contextlib.suppress(OSError):
        while data := await reader.read(CHUNK_BYTES):
            writer.write(data)
            await writer.drain()


def on_signals(act: Callable[[], object]) -> None:
    """Do this when the process is asked to end."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, act)


async def run_until_signalled(work: Awaitable[None]) -> None:
    """Run it until it ends, or this process is asked to."""
    task = asyncio.ensure_future(work)
    on_signals(task.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await task


def find_token(url: str) -> str | None:
    """What the server wants to be told, if it wants a token."""
    given = os.environ.get("HOLDFAST_TOKEN")
    if given:
        return given
    announced = discovery.announced_token()
    if announced is None or urlsplit(announced[0]).port != urlsplit(url).port:
        return None
    return announced[1]
