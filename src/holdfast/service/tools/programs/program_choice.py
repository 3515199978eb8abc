"""Which session a tool means: the one that is named, or the latest one of the client."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from holdfast import errors
from holdfast.model.session_state import Kind
from holdfast.service.programs.program_session import ProgramSession
from holdfast.service.programs.session_choice import LATEST
from holdfast.service.session import Session
from holdfast.service.tools.tool_client import ToolClient

if TYPE_CHECKING:
    from holdfast.service.debugger import Debugger

_MAX_LISTED = 5
_START_ONE = "debug_run starts a program."
_OTHER_TOOLS = {
    Kind.CALLS: "calls_search and hold_list are for its calls.",
    Kind.AGENT: "agent_control is for agents.",
}


def find_program(debugger: Debugger, client: ToolClient, wanted: str | None) -> ProgramSession:
    """The session of a program, which may have ended. It counts as used, and so as the latest."""
    if wanted is None or wanted == LATEST:
        session = _find_latest(debugger, client)
    else:
        session = _find_named(debugger, wanted)
    session.touch()
    if session.id in client.started:
        client.started.remove(session.id)
        client.started.append(session.id)
    return session


def _find_latest(debugger: Debugger, client: ToolClient) -> ProgramSession:
    """The one that the client started or used last, else the latest of anybody's.

    One's own comes first even if it has ended: nobody means to run somebody else's program.
    """
    programs = {session.id: session for session in debugger.programs.all()}
    for session_id in reversed(client.started):
        if session_id in programs:
            return programs[session_id]
    live = [session for session in programs.values() if session.is_live]
    if live:
        return debugger.programs.choose(None)
    if programs:
        return max(programs.values(), key=lambda session: session.created_at)
    raise errors.SessionNotFound(
        "there is no session", hint=_START_ONE, id=LATEST, session_id=LATEST
    )


def _find_named(debugger: Debugger, wanted: str) -> ProgramSession:
    """By id, by name, or by the beginning of an id that no other begins with."""
    programs = debugger.programs.all()
    if any(wanted in (session.id, session.config.name) for session in programs):
        return debugger.programs.choose(wanted)
    everything = debugger.sessions.all()
    similar = [session for session in everything if session.id.startswith(wanted)]
    if len(similar) == 1:
        return _require_program(similar[0])
    problem = f"{wanted!r:.100} begins the ids of several sessions" if similar else ""
    raise errors.SessionNotFound(
        problem or f"no session has the id or the name {wanted!r:.100}",
        hint=_list_known(similar or everything),
        id=wanted,
        session_id=wanted,
    )


def _require_program(session: Session) -> ProgramSession:
    if isinstance(session, ProgramSession):
        return session
    error = session.not_a_program()
    error.hint = _OTHER_TOOLS.get(session.kind, error.hint)
    raise error


def _list_known(sessions: Sequence[Session]) -> str:
    if not sessions:
        return f"There is none. {_START_ONE}"
    latest = list(reversed(sessions))[:_MAX_LISTED]
    listed = ", ".join(f"{session.id} ({session.state.value})" for session in latest)
    more = len(sessions) - len(latest)
    return f"There is {listed}" + (f" and {more} more: debug_sessions lists them." if more else ".")
