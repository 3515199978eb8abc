"""Chooses the session that somebody means: by its id, by its name, or the latest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from holdfast import errors

if TYPE_CHECKING:
    from holdfast.service.programs.program_session import ProgramSession

LATEST = "latest"


def choose_session(sessions: Sequence[ProgramSession], wanted: str | None) -> ProgramSession:
    if wanted is None or wanted == LATEST:
        return _choose_latest(sessions)
    for session in sessions:
        if session.id == wanted:
            return session
    named = [session for session in sessions if session.config.name == wanted]
    live = [session for session in named if session.is_live]
    if named:
        return (live or named)[-1]
    raise errors.SessionNotFound(
        f"no session has the id or the name {wanted}",
        hint="`holdfast sessions` lists them.",
        id=wanted,
        session_id=wanted,
    )


def _choose_latest(sessions: Sequence[ProgramSession]) -> ProgramSession:
    live = [session for session in sessions if session.is_live]
    if not live:
        raise errors.SessionNotFound(
            "no program is being debugged",
            hint="Launch one, or name a session. `holdfast sessions` lists them.",
            id=LATEST,
            session_id=LATEST,
        )
    return max(live, key=lambda session: (session.is_paused, session.created_at))
