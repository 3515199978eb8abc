"""The port on which editors join the session of an adapter."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

from holdfast.server.dap.dap_door import Door
from holdfast.service.debugger import Debugger
from holdfast.service.programs.program_session import ProgramSession


@contextlib.asynccontextmanager
async def open_door(debugger: Debugger, session: ProgramSession) -> AsyncIterator[int]:
    """Open a free port of 127.0.0.1 for editors. After the block they are told that it is over."""
    door = Door(debugger, session)
    port = await door.open()
    debugger.editor_doors = door.editors
    try:
        yield port
    finally:
        await door.editors.close()
