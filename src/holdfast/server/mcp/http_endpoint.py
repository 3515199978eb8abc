"""`/mcp`: agents over streamable HTTP. What they start outlives them, and can be found again.

`access_control` has let the client in. The SDK checks host and origin once more.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
from collections.abc import Callable
from typing import Any

from starlette.types import Receive, Scope, Send

from holdfast.service.debugger import Debugger

PATH = "/mcp"
_MANAGER_MODULE = "holdfast.server.mcp.http_sessions"


def build_endpoint(debugger: Debugger, *, is_loopback: bool) -> McpEndpoint:
    """The endpoint of a debugger. `is_loopback` says whether only this machine gets at it."""

    def build_manager() -> Any:
        """Import the SDK, too, which takes most of a second."""
        module = importlib.import_module(_MANAGER_MODULE)
        return module.build_manager(debugger, is_loopback=is_loopback)

    return McpEndpoint(build_manager)


class McpEndpoint:
    """An ASGI application around the SDK's manager, which is built in a thread when the first
    request comes."""

    def __init__(self, build_manager: Callable[[], Any]) -> None:
        self._build_manager = build_manager
        self._manager: asyncio.Future[Any] | None = None
        self._running: asyncio.Task[None] | None = None
        self._ending = asyncio.Event()

    async def prepare(self) -> Any:
        """The manager, which is built now if it was not yet."""
        if self._manager is None:
            self._manager = asyncio.get_running_loop().create_future()
            self._running = asyncio.create_task(self._run(self._manager))
        return await asyncio.shield(self._manager)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        manager = await self.prepare()
        # HTTP lets a value have space around it. The parser leaves what comes after it.
        headers = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
        await manager.asgi_app({**scope, "headers": headers}, receive, send)

    async def _run(self, ready: asyncio.Future[Any]) -> None:
        """One task enters and leaves the SDK's manager, as it requires."""
        try:
            manager = await asyncio.to_thread(self._build_manager)
            async with manager.run():
                ready.set_result(manager)
                await self._ending.wait()
        except Exception as problem:  # whoever waits for it is told
            if ready.done():
                raise
            ready.set_exception(problem)
            self._manager = None  # the next request tries again

    async def close(self) -> None:
        """End every stream, because the server stops."""
        self._ending.set()
        if self._running is not None:
            with contextlib.suppress(Exception):  # it has been told to those who waited
                await self._running
