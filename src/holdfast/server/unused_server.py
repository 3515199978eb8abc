"""When a server that was started for a client may stop: once nobody uses it any more."""

from __future__ import annotations

import asyncio
import contextlib

from holdfast import timings
from holdfast.service.debugger import Debugger

_CHECK_SECONDS = 0.25


async def wait_until_unused(debugger: Debugger, seconds: float) -> None:
    """Return when for so many seconds no request came, no editor or agent was connected, and
    nothing was debugged; or when the server stops anyway."""
    loop = asyncio.get_running_loop()
    stops_at = loop.time() + max(seconds, timings.TIMINGS.first_client)
    requests = debugger.request_count
    while loop.time() < stops_at and not debugger.stop_requested.is_set():
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(debugger.stop_requested.wait(), _CHECK_SECONDS)
        if is_used(debugger) or debugger.request_count != requests:
            stops_at = loop.time() + seconds
            requests = debugger.request_count


def is_used(debugger: Debugger) -> bool:
    """Whether something is debugged, or an editor or an agent is connected."""
    editors, agents = debugger.editor_doors, debugger.agent_door
    has_editors = editors is not None and editors.has_editors
    return debugger.has_targets or has_editors or (agents is not None and agents.has_agents)
