"""Sessions: create, list, inspect, change, copy, delete."""

from __future__ import annotations

import dataclasses
from typing import Any

import msgspec

from holdfast import errors
from holdfast.model.config import SessionConfig
from holdfast.server.rest.shared import build_options, parse_names
from holdfast.server.route_table import PeekedSession, ProgramTarget, RouteList
from holdfast.service.debugger import Debugger
from holdfast.service.session import Session
from holdfast.service.session_registry import KINDS, STATUSES
from holdfast.wire.program_answers import ExportedSession, PingAnswer, ProgramDetail
from holdfast.wire.program_requests import (
    AttachRequest,
    CloneSession,
    CreateSession,
    ImportSession,
)
from holdfast.wire.server_answers import EditorDoor
from holdfast.wire.session_answers import DeletedSession
from holdfast.wire.session_requests import (
    SessionListQuery,
    SessionSettings,
    StatusQuery,
    get_settings,
)
from holdfast.wire.target_answers import DetailAnswer, SessionList, StatusAnswer

routes = RouteList()
_DEFAULTS = CreateSession()
_NO_NAME = CloneSession()


@routes.post("/sessions", status=201)
async def create_session(
    debugger: Debugger, query: StatusQuery, body: CreateSession = _DEFAULTS
) -> ProgramDetail:
    """Create a session; with `launch` or `mode: attach`, and its breakpoints, start it at once.

    With `wait`, the answer is the first stop, with its locals and its source, or the end. If any of
    it is refused, the answer is that error, and there is no session.
    """
    if body.mode == "attach":
        if (body.pid is None) == (body.port is None):
            raise errors.InvalidInput("give pid, or port (with host)", field="pid")
    elif body.pid is not None or body.port is not None:
        raise errors.InvalidInput('pid and port go with mode "attach"', field="mode")
    return await debugger.programs.create(
        SessionConfig(**get_settings(body)),
        body.to_start(),
        body.to_preparation(),
        build_options(body, query, launch=body.launch),
        body.breakpoint_profile,
    )


@routes.get("/sessions")
async def list_sessions(debugger: Debugger, query: SessionListQuery) -> SessionList:
    """Every session with its status; those of a server that is gone can be restarted."""
    statuses = parse_names(query.status, STATUSES, "status")
    kinds = parse_names(query.kind, KINDS, "kind")
    sessions = [
        session.summary()
        for session in debugger.sessions.all()
        if (statuses is None or session.state.value in statuses)
        and (kinds is None or session.kind.value in kinds)
    ]
    return SessionList(sessions, len(sessions))


@routes.get("/sessions/{session_id}")
async def get_session(session: PeekedSession) -> DetailAnswer:
    """Detailed state: all of `/status`, and the configuration."""
    return await session.detail()


@routes.get("/sessions/{session_id}/status")
async def get_status(session: PeekedSession, query: StatusQuery) -> StatusAnswer:
    """Where the program is. With `wait`, the next stop or the end, or `running` when time is up.

    Of an agent: whether it is held, and what holds it."""
    return await session.status(build_options(query))


@routes.patch("/sessions/{session_id}")
async def change_session(session: ProgramTarget, body: SessionSettings) -> ProgramDetail:
    """Change the settings of a session; a field left out stays as it is."""
    return await session.program.configure(get_settings(body))


@routes.delete("/sessions/{session_id}")
async def delete_session(session: Session) -> DeletedSession:
    """End the program and everything it started, and forget the session; or forget its calls.

    An agent is not ended by it: its recording goes, once it is over."""
    await session.delete()
    return DeletedSession(session.id)


@routes.get("/sessions/{session_id}/dap")
async def open_editor_door(debugger: Debugger, session: ProgramTarget) -> EditorDoor:
    """Where an editor joins this session: the address of a debug adapter, until the session ends.

    See docs/editors.md for what to write into the editor's configuration."""
    if debugger.editor_doors is None:
        raise errors.Refused("this server has no door for editors")
    host, port = await debugger.editor_doors.open_session_door(session)
    return EditorDoor(session.id, host, port)


@routes.get("/sessions/{session_id}/ping")
@routes.post("/sessions/{session_id}/ping")
async def ping(session: ProgramTarget) -> PingAnswer:
    """Keep the session alive."""
    return session.program.ping()


@routes.post("/sessions/{session_id}/clone", status=201)
async def clone_session(
    debugger: Debugger, session: ProgramTarget, body: CloneSession = _NO_NAME
) -> ProgramDetail:
    """A new session with the same configuration and breakpoints; nothing runs in it yet."""
    clone = await debugger.programs.clone(session.program, body.name)
    return await clone.detail()


@routes.get("/sessions/{session_id}/export")
async def export_session(session: ProgramTarget) -> ExportedSession:
    """The session's configuration, to be imported here or elsewhere."""
    return session.program.export()


@routes.post("/sessions/import", status=201)
async def import_session(debugger: Debugger, body: ImportSession) -> ProgramDetail:
    """A new session from what `/export` gave."""
    session = await debugger.programs.import_session(_build_document(body))
    return await session.detail()


def _build_document(body: ImportSession) -> dict[str, Any]:
    """What was sent, checked, in the form in which sessions are kept."""
    settings = body.config or SessionSettings(name=body.name)
    exceptions = body.exception_breakpoints
    return {
        "config": get_settings(settings),
        "launch": dataclasses.asdict(body.launch.to_launch()) if body.launch else None,
        "attach": dataclasses.asdict(body.attach.to_attach()) if body.attach else None,
        "breakpoints": [point.fields() for point in body.breakpoints],
        "exception_breakpoints": msgspec.to_builtins(exceptions) if exceptions else None,
        "watches": body.watches,
    }


@routes.post("/sessions/{session_id}/attach")
async def attach_session(session: Session, query: StatusQuery, body: AttachRequest) -> StatusAnswer:
    """Attach to a process by pid, or to a debugpy that listens at host and port."""
    return await session.start(body.to_attach(), build_options(body, query), body.to_preparation())
