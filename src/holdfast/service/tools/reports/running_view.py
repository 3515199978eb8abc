"""Where the threads of a program are: of one that runs, without stopping it."""

from __future__ import annotations

import contextlib

from holdfast import errors
from holdfast.service.programs.program_session import ProgramSession
from holdfast.service.tools.tool_client import ToolClient
from holdfast.wire.program_answers import Thread
from holdfast.wire.session_answers import Location


async def list_threads(session: ProgramSession, client: ToolClient) -> list[str]:
    """A line for each thread: its name, its state, where it is. Empty if nobody can tell."""
    with contextlib.suppress(errors.HoldfastError):  # it ends just now, or cannot answer
        threads = (await session.inspection.threads()).threads
        if session.is_running and not session.stops.threads.waiting:
            for thread in threads:  # one that was just let go may not have noticed yet
                thread["status"] = "running"
        return [_describe_thread(thread, client) for thread in threads]
    return []


def _describe_thread(thread: Thread, client: ToolClient) -> str:
    place = thread.get("location")
    if isinstance(place, dict):  # as the program described it
        place = Location(**place)
    state = "waits" if thread.get("blocked") else thread.get("status", "running")
    where = f" at {client.show_place(place.file, place.line)}" if place else ""
    where += f" in {place.function}" if place and place.function else ""
    return f"{thread.get('name')} {state}{where}"
