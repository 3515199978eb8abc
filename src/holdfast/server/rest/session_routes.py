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
    DEFAULT_INCLUDE,
    AnySession,
    Json,
    ServiceHere,
    SessionHere,
    SteeredSeen,
    chosen,
    extras,
    patience_of,
    router,
    seconds,
    shows,
    state_of,
    status,
)
from holdfast.service import children
from holdfast.service.agents import shown as agents
from holdfast.service.agents.session import AgentSession
from holdfast.service.calls.call_session import CallSession
from holdfast.service.programs.program_session import ProgramSession
from holdfast.wire import rest

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
async def create_session(service: ServiceHere, body: bodies.CreateSession | None = None) -> Json:
    """Create a session; with `mode: attach`, attach it at once."""
    body = body or bodies.CreateSession()
    if body.mode == "attach":
        attach = _attach(body)
    elif body.pid or body.port:
        raise errors.InvalidInput('pid and port go with mode "attach"', field="mode")
    session = await service.create(_config(body))
    try:
        if body.breakpoint_profile:
            stored = service.store.profiles().get(body.breakpoint_profile)
            if stored is None:
                raise errors.ProfileNotFound(
                    f"no profile {body.breakpoint_profile!r}", name=body.breakpoint_profile
                )
            session.breakpoints.add(stored["breakpoints"])
            await session.saved()
        if body.mode == "attach":
            await children.attach(service, session, attach)
            if patience := seconds(body.wait, session, 0.0):
                await session.settled(patience)
    except BaseException:
        await service.delete(session)
        raise
    return {**await detail(session), **await extras(session, _wanted(body.wait))}


def _wanted(wait: Any) -> tuple[str, ...]:
    """A waited answer carries what a stop is looked at for."""
    return DEFAULT_INCLUDE if wait is not None else ()


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
) -> Json:
    """Every session with its status; those of a server that is gone can be restarted."""
    found = [
        _listed(each)
        for each in service.every_session()
        if status is None or each.state.value == status
    ]
    return {"sessions": found, "total": len(found)}


def _listed(session: ProgramSession | CallSession | AgentSession) -> Json:
    if isinstance(session, AgentSession):
        return agents.summary_json(session)
    return call_summary(session) if isinstance(session, CallSession) else summary(session)


def call_summary(session: CallSession) -> Json:
    """A session of calls, in a list and on its own."""
    shown: Json = {
        "session_id": session.id,
        "status": session.state.value,
        "kind": session.kind.value,
        "name": session.name,
        "created_at": rest.timestamp(session.created_at),
        "pid": session.pid,
        "calls": session.calls,
        "holds": sorted(session.holds),
        "last_event": session.journal.seq,
    }
    for name in ("argv", "cwd", "python", "script", "module", "path"):
        if name in session.about:
            shown[name] = session.about[name]
    if session.over:
        shown["reason"] = session.reason
    return shown


def summary(session: ProgramSession) -> Json:
    shown = {
        **state_of(session),
        "kind": session.kind.value,
        "name": session.config.name,
        "created_at": rest.timestamp(session.created_at),
    }
    if session.parent_id:
        shown["parent_id"] = session.parent_id
    if session.recovered:
        shown["recoverable"] = session.launch is not None and session.over
    warning = session.warning
    if warning:
        shown["warning"] = warning
    return shown


async def detail(session: ProgramSession) -> Json:
    """Everything about a session that is known without being asked."""
    exported = session.exported()
    target = session.target
    return {
        **summary(session),
        **await status(session),
        "cwd": session.config.cwd,
        "project": session.project,
        "timeout_minutes": session.timeout_minutes,
        "expires_in_seconds": round(session.seconds_left, 1),
        "launch": exported["launch"],
        "attach": exported["attach"],
        "breakpoints": len(session.breakpoints),
        "exception_breakpoints": rest.exception_filters(session.exceptions),
        "watches": exported["watches"],
        "children": list(session.children),
        "subprocesses": list(session.subprocesses),
        "pid": target.pid if target else None,
        "python_version": ".".join(map(str, target.version)) if target and target.version else None,
        "route": target.route if target else None,
        "output_cursor": str(session.output_buffer.cursor),
        "last_event": session.journal.seq,
    }


@routes.get("/sessions/{session_id}", responses=shows(_DETAIL))
async def get_session(service: ServiceHere, session_id: str) -> Json:
    """Detailed state: all of `/status`, and the configuration."""
    if session_id in service.calls.sessions:
        return call_summary(service.calls.session(session_id))
    if session_id in service.agents.sessions:
        return await agents.detail_json(service.agents.session(session_id))
    session = service.session(session_id, touch=False)
    shown = await detail(session)
    service.last_look(session)
    return shown


@routes.get("/sessions/{session_id}/status", responses=shows(_PAUSED))
async def get_status(
    service: ServiceHere,
    session: SteeredSeen,
    wait: Annotated[str | None, Query()] = None,
    include: Annotated[str | None, Query()] = None,
) -> Json:
    """Where the program is. With `wait`, the next stop or the end, or `running` when time is up.

    Of an agent: whether it is held, and what holds it."""
    if isinstance(session, AgentSession):
        await session.wait_until(lambda: session.settled, patience_of(wait, service.settings, 0.0))
        return agents.state_json(session)
    patience = seconds(wait, session, 0.0)
    wanted = chosen(include) if include is not None or patience else ()
    if patience:
        await session.settled(patience)
    shown = await status(session, wanted)
    warning = session.warning
    if warning:
        shown["warning"] = warning
    service.last_look(session)
    return shown


@routes.patch("/sessions/{session_id}", responses=shows(_DETAIL))
async def change_session(
    service: ServiceHere, session: SessionHere, body: bodies.Configuration
) -> Json:
    """Change the settings of a session; a field left out stays as it is."""
    given: dict[str, Any] = {name: getattr(body, name) for name in body.model_fields_set}
    if "cwd" in given:
        given["cwd"] = _directory(given["cwd"])
    await service.configure(session, given)
    return await detail(session)


@routes.delete("/sessions/{session_id}", responses=shows({"deleted": True}))
async def delete_session(service: ServiceHere, session: AnySession) -> Json:
    """End the program and everything it started, and forget the session; or forget its calls.

    An agent is not ended by it: its recording goes, once it is over."""
    if isinstance(session, AgentSession):
        await service.agents.delete(session)
    elif isinstance(session, CallSession):
        await service.calls.delete(session)
    else:
        await service.delete(session)
    return {"deleted": True, "session_id": session.id}


@routes.get("/sessions/{session_id}/ping", responses=shows({"status": "paused"}))
@routes.post("/sessions/{session_id}/ping", responses=shows({"status": "paused"}))
async def ping(session: SessionHere) -> Json:
    """Keep the session alive."""
    return {
        "session_id": session.id,
        "status": session.state.value,
        "expires_in_seconds": round(session.seconds_left, 1),
    }


@routes.post("/sessions/{session_id}/clone", status_code=201, responses={201: shows(_DETAIL)[200]})
async def clone_session(
    service: ServiceHere, session: SessionHere, body: bodies.Clone | None = None
) -> Json:
    """A new session with the same configuration and breakpoints; nothing runs in it yet."""
    return await detail(await service.clone(session, body.name if body else None))


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
async def export_session(session: SessionHere) -> Json:
    """The session's configuration, to be imported here or elsewhere."""
    return {"version": 1, **session.exported()}


@routes.post("/sessions/import", status_code=201, responses={201: shows(_DETAIL)[200]})
async def import_session(service: ServiceHere, body: bodies.Exported) -> Json:
    """A new session from what `/export` gave."""
    return await detail(await service.import_session(_document(body)))


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
    service: ServiceHere,
    session: SessionHere,
    body: bodies.AttachOptions,
    wait: Annotated[str | None, Query()] = None,
) -> Json:
    """Attach to a process by pid, or to a debugpy that listens at host and port."""
    given = body.wait if body.wait is not None else wait
    patience = seconds(given, session, 0.0)
    await children.attach(service, session, _attach(body))
    if patience:
        await session.settled(patience)
    return await status(session, _wanted(given))
