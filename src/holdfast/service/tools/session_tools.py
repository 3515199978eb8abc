"""Lists and ends sessions."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from msgspec import UNSET, UnsetType

from holdfast.model.session_state import State
from holdfast.service.programs.program_session import ProgramSession
from holdfast.service.programs.status_builder import name_reason
from holdfast.service.session import Session
from holdfast.service.tools.programs.program_choice import find_program
from holdfast.service.tools.tool_client import ToolClient
from holdfast.wire.capture_answers import CaptureSummary
from holdfast.wire.plain_text import clean_line
from holdfast.wire.session_table import (
    ListedSession,
    SessionTable,
    StoppedSession,
    StoppedSessions,
)
from holdfast.wire.tool_requests import DebugSessions, DebugStop

if TYPE_CHECKING:
    from holdfast.service.debugger import Debugger

_ALL = "all"
_WAITING = frozenset({State.PAUSED, State.WAITING_FOR_INPUT})
_UNITS = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))
_NONE = "debug_run starts a program."
_LOOK = "debug_inspect(capture=ID) shows a failing test."
_MAX_CAPTURES = 10


async def list_sessions(
    debugger: Debugger, client: ToolClient, request: DebugSessions
) -> SessionTable:
    """List sessions and captures: those that wait first, and the latest first of each."""
    sessions = sorted(debugger.sessions.all(), key=_rank)
    shown = sessions[: request.limit]
    table = SessionTable(
        sessions=[_build_row(session, client) for session in shown], total=len(sessions)
    )
    if len(shown) < len(sessions):
        table.omitted = f"{len(sessions) - len(shown)} sessions: debug_sessions with another limit"
    captures = await debugger.captures.list(min(request.limit, _MAX_CAPTURES))
    if captures.captures:
        table.captures = [_describe_capture(capture) for capture in captures.captures]
        table.next = _LOOK
    elif not sessions:
        table.next = _NONE
    return table


def _describe_capture(capture: CaptureSummary) -> str:
    return clean_line(f"{capture.id}  {capture.node}  {capture.exception}: {capture.message}")


def _rank(session: Session) -> tuple[bool, bool, float]:
    return session.state not in _WAITING, session.over, -session.created_at


def _build_row(session: Session, client: ToolClient) -> ListedSession:
    row = ListedSession(
        session_id=session.id,
        kind=session.kind.value,
        status=session.state.value,
        age=_describe_age(session.created_at),
        name=_find_name(session),
    )
    if session.id in client.started:
        row.is_yours = True
    if isinstance(session, ProgramSession):
        _fill_program(row, session, client)
    return row


def _fill_program(row: ListedSession, session: ProgramSession, client: ToolClient) -> None:
    stop = session.stops.current
    if session.parent_id:
        row.parent_id = session.parent_id
    if stop is not None:
        row.reason = name_reason(stop)
        if stop.location is not None:
            row.at = f"{client.show_path(stop.location.file)}:{stop.location.line}"
    elif session.over and session.reason:
        row.reason = session.reason


def _find_name(session: Session) -> str | UnsetType:
    if isinstance(session, ProgramSession):
        name = session.config.name or (session.launch.target if session.launch else None)
    else:
        name = getattr(session.summary(), "name", None)
    return clean_line(str(name)) if name else UNSET


def _describe_age(created_at: float) -> str:
    seconds = max(0.0, time.time() - created_at)
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return "0 s"


async def stop(debugger: Debugger, client: ToolClient, request: DebugStop) -> StoppedSessions:
    """End a session and its program, and forget it."""
    if request.session_id == _ALL:
        sessions = [debugger.programs.find(session_id) for session_id in client.started]
        wanted = [session for session in sessions if session is not None]
    else:
        wanted = [find_program(debugger, client, request.session_id)]
    stopped = []
    for session in wanted:
        stopped.append(_build_stopped(session))
        await session.delete()
        client.running.discard(session.id)
        if session.id in client.started:
            client.started.remove(session.id)
    return StoppedSessions(stopped=stopped, message=_describe_stopped(stopped))


def _build_stopped(session: ProgramSession) -> StoppedSession:
    return StoppedSession(session_id=session.id, was=session.state.value, name=_find_name(session))


def _describe_stopped(stopped: list[StoppedSession]) -> str:
    if not stopped:
        return "You have started no session that is still there."
    ended = sum(session.was in ("terminated", "failed") for session in stopped)
    if ended == len(stopped):
        return "It had ended already, and is forgotten." if ended == 1 else "All had ended already."
    return "It is ended and forgotten." if len(stopped) == 1 else "They are ended and forgotten."
