"""When a server that was started for an editor may stop: once nobody uses it any more."""

from __future__ import annotations

import asyncio

from holdfast.service.debugger import Debugger

_FIRST_SECONDS = 15.0  # an editor that has started it is on its way
_UNUSED_SECONDS = 1.5
_CHECK_SECONDS = 0.25


async def wait_until_unused(debugger: Debugger) -> None:
    """Return when no editor is connected and nothing is being debugged, for a moment."""
    loop = asyncio.get_running_loop()
    stops_at = loop.time() + _FIRST_SECONDS
    while loop.time() < stops_at:
        await asyncio.sleep(_CHECK_SECONDS)
        if _is_used(debugger):
            stops_at = loop.time() + _UNUSED_SECONDS


def _is_used(debugger: Debugger) -> bool:
    doors = debugger.editor_doors
    return debugger.has_targets or (doors is not None and doors.has_editors)
