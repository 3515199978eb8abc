"""The HTTP server as we run it: uvicorn with our limits, and without its signal handlers."""

from __future__ import annotations

import asyncio
import contextlib
import math
import socket
from collections.abc import Iterator
from typing import Literal

import uvicorn

from holdfast import timings
from holdfast.server.access_control import AccessControl, Policy
from holdfast.server.app import Application
from holdfast.server.connection_limits import choose_backlog
from holdfast.server.http_protocol import choose_http_protocol

MAX_BODY_BYTES = 32 * 1024 * 1024
# Agents think between two requests. Their connection should stay open meanwhile.
_KEEP_ALIVE_SECONDS = 75


class HttpServer(uvicorn.Server):
    """Sets `ready` once it accepts connections. Handles no signals: its owner does."""

    def __init__(
        self, app: Application, policy: Policy, lifespan: Literal["on", "off"] = "on"
    ) -> None:
        """With `lifespan`, it starts and closes the debugger behind the application."""
        super().__init__(
            uvicorn.Config(
                AccessControl(app, policy),
                http=choose_http_protocol(policy),
                loop="none",
                ws="none",
                proxy_headers=False,
                lifespan=lifespan,
                log_config=None,
                access_log=False,
                server_header=False,
                timeout_keep_alive=_KEEP_ALIVE_SECONDS,
                timeout_graceful_shutdown=math.ceil(timings.TIMINGS.last_requests),
                backlog=choose_backlog(),
            )
        )
        self.ready = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self.started:
            self.ready.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
