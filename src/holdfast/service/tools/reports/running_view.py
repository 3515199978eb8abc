"""Where the threads of a program are: of one that runs, without stopping it."""

from __future__ import annotations

import contextlib

from holdfast import errors
from holdfast.service.programs.program_session import ProgramSession
from holdfast.service.tools.tool_client import ToolClient
from holdfast.wire.program_answers import Thread
from holdfast.wire.session_answers import Location

_MAX_FRAMES = 50


async def list_threads(
    session: ProgramSession, client: ToolClient, limit: int | None = None
) -> list[str]:
    """A line for each thread: its name, its state, where it is. Empty if nobody can tell."""
    with contextlib.suppress(errors.HoldfastError):  # it ends just now, or cannot answer
        threads = (await session.inspection.threads()).threads[:limit]
        if session.is_running and not session.stops.threads.waiting:
            for thread in threads:  # one that was just let go may not have noticed yet
                thread["status"] = "running"
        return [
            _describe_thread(thread, client) + await _describe_own_code(session, thread, client)
            for thread in threads
        ]
    return []


async def _describe_own_code(session: ProgramSession, thread: Thread, client: ToolClient) -> str:
    """The nearest caller of the user's own, if the thread is in a library."""
    try:
        page = await session.inspection.stack(thread["id"], count=_MAX_FRAMES)
    except errors.HoldfastError:  # it has just ended
        return ""
    own = next((frame for frame in page.frames if not frame.get("library")), None)
    if own is None or own is page.frames[0]:
        return ""
    return f" ← {own['name']} {client.show_place(own['file'], own['line'])}"


def _describe_thread(thread: Thread, client: ToolClient) -> str:
    place = thread.get("location")
    if isinstance(place, dict):  # as the program described it
        place = Location(**place)
    state = "waits" if thread.get("blocked") else thread.get("status", "running")
    where = f" at {client.show_place(place.file, place.line)}" if place else ""
    where += f" in {place.function}" if place and place.function else ""
    return f"{thread.get('name')} {state}{where}"
