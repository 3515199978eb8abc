"""The HTTP API of an adapter, on a free port of this machine."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator

from holdfast import errors
from holdfast.server.access_control import Policy
from holdfast.server.app import create_app
from holdfast.server.http_server import build_url
from holdfast.server.uvicorn_server import MAX_BODY_BYTES, HttpServer
from holdfast.service.debugger import Debugger
from holdfast.trust import kernel_sockets
from holdfast.trust.socket_owners import parse_address

_HOST = "127.0.0.1"


@contextlib.asynccontextmanager
async def serve_http(debugger: Debugger) -> AsyncIterator[str]:
    """Serve a debugger that runs already. The value is the address."""
    # Only where the protocol is named, asyncio turns off Nagle's algorithm: 40 ms a request.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind((_HOST, 0))
    app = create_app(debugger)
    server = HttpServer(app, Policy(loopback=True, token=None, max_body=MAX_BODY_BYTES), "off")
    running = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        ready = asyncio.create_task(server.ready.wait())
        await asyncio.wait([ready, running], return_when=asyncio.FIRST_COMPLETED)
        ready.cancel()
        if running.done():
            await running
            raise errors.Failure("the HTTP server could not start")
        address = listener.getsockname()
        # From its first answer on, the kernel is believed when it does not know a client.
        kernel_sockets.find_listener(parse_address(address[:2]))
        yield build_url(_HOST, address[1])
    finally:
        server.should_exit = True
        await app.close_streams()
        await asyncio.wait([running])
        listener.close()
