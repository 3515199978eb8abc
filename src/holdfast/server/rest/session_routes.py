"""Sessions: create, list, look, change, copy, take away."""

from __future__ import annotations

import dataclasses
import os
from typing import Annotated, Any

from fastapi import Query

from holdfast import errors
from holdfast.model.config import SessionConfig
from holdfast.model.launch import Attach
from holdfast.server.rest import bodies
from holdfast.server.rest.execution_routes import launch_of
from holdfast.server.rest.shared import (
    Answer,
    Json,
    ProgramHere,
    ServiceHere,
    SessionHere,
    SessionSeen,
    options_of,
    router,
    shows,
)
from holdfast.service.run_options import RunOptions

routes = router()
_PAUSED = {
    "session_id": "sess_abc123",
    "status": "paused",
    "reason": "breakpoint",
    "location": {"file": "/code/main.py", "line": 10, "function": "main"},
    "thread_id": 1,
    "hold_id": "hold_1",
    "stopped_threads": [{"thread_id": 1, "name": "MainThread"}],
    "all_threads": [{"thread_id": 1, "name": "MainThread", "status": "paused"}],
}
_DETAIL = {**_PAUSED, "name": "debug-my-script", "timeout_minutes": 60, "breakpoints": 1}


_CREATED = {"session_id": "sess_abc123", "status": "created", "name": "debug-my-script"}


@routes.post("/sessions", status_code=201, responses={201: shows(_CREATED)[200]})
async def create_session(service: ServiceHere, body: bodies.CreateSession | None = None) -> Answer:
    """Create a session; with `mode: attach`, attach it at once."""
    body = body or bodies.CreateSession()
    config, profile = _config(body), body.breakpoint_profile
    if body.mode == "attach":
        attach = _attach(body)
        detail = await service.programs.open_attached(config, attach, body.wait, profile)
        return Answer(detail, 201)
    if body.pid or body.port:
        raise errors.InvalidInput('pid and port go with mode "attach"', field="mode")
    session = await service.programs.open(config, profile)
    return Answer(await session.detail(), 201)


def _config(body: bodies.Configuration) -> SessionConfig:
    return SessionConfig(
        name=body.name,
        cwd=_directory(body.cwd),
        timeout_minutes=body.timeout_minutes,
        output_limit_bytes=body.output_limit_bytes,
        evaluate_timeout=body.evaluate_timeout,
    )


def _directory(cwd: str | None) -> str | None:
    if cwd is None:
        return None
    path = os.path.abspath(os.path.expanduser(cwd))
    if not os.path.isdir(path):
        raise errors.FileMissing(f"no such directory: {path}", file=path, field="cwd")
    return path


def _attach(body: bodies.CreateSession | bodies.AttachOptions) -> Attach:
    if (body.pid is None) == (body.port is None):
        raise errors.InvalidInput("give pid, or port (with host)", field="pid")
    return Attach(
        pid=body.pid,
        host=(body.host or "127.0.0.1") if body.port else None,
        port=body.port,
        just_my_code=body.just_my_code,
        debug_subprocesses=body.debug_subprocesses,
        stop_all_threads=body.stop_all_threads,
        path_mappings=tuple((a, b) for a, b in body.path_mappings),
    )


@routes.get("/sessions", responses=shows({"sessions": [_DETAIL], "total": 1}))
async def list_sessions(
    service: ServiceHere, status: Annotated[str | None, Query()] = None
) -> Answer:
    """Every session with its status; those of a server that is gone can be restarted."""
    sessions = [
        session.summary()
        for session in service.sessions.all()
        if status is None or session.state.value == status
    ]
    return Answer({"sessions": sessions, "total": len(sessions)})


@routes.get("/sessions/{session_id}", responses=shows(_DETAIL))
async def get_session(session: SessionSeen) -> Answer:
    """Detailed state: all of `/status`, and the configuration."""
    return Answer(await session.detail())


@routes.get("/sessions/{session_id}/status", responses=shows(_PAUSED))
async def get_status(
    session: SessionSeen,
    wait: Annotated[str | None, Query()] = None,
    include: Annotated[str | None, Query()] = None,
) -> Answer:
    """Where the program is. With `wait`, the next stop or the end, or `running` when time is up.

    Of an agent: whether it is held, and what holds it."""
    return Answer(await session.status(RunOptions(wait=wait, include=include)))


@routes.patch("/sessions/{session_id}", responses=shows(_DETAIL))
async def change_session(session: ProgramHere, body: bodies.Configuration) -> Answer:
    """Change the settings of a session; a field left out stays as it is."""
    changes: dict[str, Any] = {name: getattr(body, name) for name in body.model_fields_set}
    if "cwd" in changes:
        changes["cwd"] = _directory(changes["cwd"])
    return Answer(await session.configure(changes))


@routes.delete("/sessions/{session_id}", responses=shows({"deleted": True}))
async def delete_session(session: SessionHere) -> Json:
    """End the program and everything it started, and forget the session; or forget its calls.

    An agent is not ended by it: its recording goes, once it is over."""
    await session.delete()
    return {"deleted": True, "session_id": session.id}


@routes.get("/sessions/{session_id}/ping", responses=shows({"status": "paused"}))
@routes.post("/sessions/{session_id}/ping", responses=shows({"status": "paused"}))
async def ping(session: ProgramHere) -> Answer:
    """Keep the session alive."""
    return Answer(session.ping())


@routes.post("/sessions/{session_id}/clone", status_code=201, responses={201: shows(_DETAIL)[200]})
async def clone_session(
    service: ServiceHere, session: ProgramHere, body: bodies.Clone | None = None
) -> Answer:
    """A new session with the same configuration and breakpoints; nothing runs in it yet."""
    clone = await service.programs.clone(session, body.name if body else None)
    return Answer(await clone.detail(), 201)


_EXPORT = {
    "version": 1,
    "name": "debug-my-script",
    "config": {"name": "debug-my-script"},
    "launch": {"script": "/code/main.py"},
    "attach": None,
    "breakpoints": [{"id": "bp_1", "file": "/code/main.py", "line": 10, "enabled": True}],
    "exception_breakpoints": {"filters": [], "types": [], "user_code_only": False},
    "watches": [],
}


@routes.get("/sessions/{session_id}/export", responses=shows(_EXPORT))
async def export_session(session: ProgramHere) -> Json:
    """The session's configuration, to be imported here or elsewhere."""
    return session.export()


@routes.post("/sessions/import", status_code=201, responses={201: shows(_DETAIL)[200]})
async def import_session(service: ServiceHere, body: bodies.Exported) -> Answer:
    """A new session from what `/export` gave."""
    session = await service.programs.import_session(_document(body))
    return Answer(await session.detail(), 201)


def _document(body: bodies.Exported) -> Json:
    """What was sent, checked, in the form in which sessions are kept."""
    config = body.config or bodies.Configuration(name=body.name)
    chosen = body.exception_breakpoints
    return {
        "config": dataclasses.asdict(_config(config)),
        "launch": dataclasses.asdict(launch_of(body.launch)) if body.launch else None,
        "attach": dataclasses.asdict(_attach(body.attach)) if body.attach else None,
        "breakpoints": [
            {**each.values(), "id": each.id or f"bp_{number}"}
            for number, each in enumerate(body.breakpoints, 1)
        ],
        "exception_breakpoints": chosen.model_dump() if chosen else None,
        "watches": body.watches,
    }


@routes.post("/sessions/{session_id}/attach", responses=shows({"status": "running"}))
async def attach_session(
    session: SessionHere,
    body: bodies.AttachOptions,
    wait: Annotated[str | None, Query()] = None,
) -> Answer:
    """Attach to a process by pid, or to a debugpy that listens at host and port."""
    return Answer(await session.start(_attach(body), options_of(body, wait)))
