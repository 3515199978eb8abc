"""Finds sessions by what people type: an id, its beginning, its end, or the agent's name."""

from __future__ import annotations

from holdfast.recording.directories import AgentsDirectory, SessionDirectory

_PREFIX = "debug_"


def find_sessions(agents: AgentsDirectory, text: str) -> list[SessionDirectory]:
    """The sessions that are meant, oldest first.

    An exact id is meant alone, whatever else begins with it. A name comes before a part of an id.
    """
    homes = agents.list_sessions()
    exact = [home for home in homes if home.id == text]
    if exact or not text:
        return exact
    named = [home for home in homes if home.read_metadata().get("name") == text]
    return named or [home for home in homes if _is_part(home.id, text)]


def _is_part(session_id: str, text: str) -> bool:
    short = session_id[len(_PREFIX) :] if session_id.startswith(_PREFIX) else session_id
    return session_id.startswith(text) or short.startswith(text) or session_id.endswith(text)
