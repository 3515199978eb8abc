"""The port on which editors join the session of an adapter."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from holdfast.service.debugger import Debugger
from holdfast.service.programs.program_session import ProgramSession

HOST = "127.0.0.1"


@contextlib.asynccontextmanager
async def open_door(debugger: Debugger, session: ProgramSession) -> AsyncIterator[int]:
    """Open a free port for editors, and close it after the block."""
    server = await asyncio.start_server(lambda reader, writer: writer.close(), HOST, 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
