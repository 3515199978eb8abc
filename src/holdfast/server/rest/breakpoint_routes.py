"""Breakpoints: lines, functions, exceptions; one, many, or a named profile of them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Annotated, Any

from fastapi import Body

from holdfast import errors
from holdfast.model.breakpoint import Breakpoint, ExceptionFilters
from holdfast.server.rest import bodies
from holdfast.server.rest.shared import Json, ServiceHere, SessionHere, router, shows
from holdfast.service import breakpoints, execution, inspection
from holdfast.service.programs.program_session import ProgramSession
from holdfast.service.programs.source_files import stamp_of
from holdfast.wire import rest

routes = router()
_ONE = {
    "breakpoint_id": "bp_1",
    "verified": True,
    "enabled": True,
    "file": "/code/main.py",
    "line": 10,
    "condition": "i > 100",
    "hits": 0,
}
_MANY = {"breakpoints": [_ONE], "total": 1}


async def _apply(session: ProgramSession, changed: Iterable[Breakpoint]) -> None:
    """Tell the debugger, then the store; both have it before the answer says so."""
    touched = list(changed)
    files = {each.file for each in touched if each.file and not each.is_function}
    await execution.update_breakpoints(
        session, files, functions=any(each.is_function for each in touched)
    )
    await session.saved()


def _shown(session: ProgramSession, point: Breakpoint) -> Json:
    shown = rest.breakpoint_(point)
    loaded = session.loaded.get(point.file) if point.file else None
    if loaded is not None and point.file and not session.over and stamp_of(point.file) != loaded:
        shown["warning"] = "The file has changed since it was loaded; the line is of the old text."
    return shown


@routes.post(
    "/sessions/{session_id}/breakpoints", status_code=201, responses={201: shows(_ONE)[200]}
)
async def add_breakpoints(
    service: ServiceHere,
    session: SessionHere,
    body: Annotated[
        bodies.BreakpointBody,
        Body(examples=[{"file": "/code/main.py", "line": 10, "condition": "i > 100"}]),
    ],
) -> Json:
    """Set one breakpoint (an object), or several (a list): all of them or none."""
    single = isinstance(body, bodies.BreakpointSpec)
    if isinstance(body, bodies.BreakpointSpecs) and body.profile is not None:
        specs = _profile(service.store.profiles(), body.profile)
        strict = [body.strict] * len(specs)
    else:
        listed = _listed(body)
        specs = [each.values() for each in listed]
        all_strict = isinstance(body, bodies.BreakpointSpecs) and body.strict
        strict = [each.strict or all_strict for each in listed]
    made = session.breakpoints.add(specs, strict)
    for each in made:
        session.event("breakpoint_set", **rest.breakpoint_(each))
    await _apply(session, made)
    shown = [_shown(session, each) for each in made]
    return shown[0] if single else {"breakpoints": shown, "total": len(shown)}


def _listed(
    body: bodies.BreakpointSpec | list[bodies.BreakpointSpec] | bodies.BreakpointSpecs,
) -> list[bodies.BreakpointSpec]:
    if isinstance(body, bodies.BreakpointSpec):
        return [body]
    return body if isinstance(body, list) else list(body.breakpoints or [])


def _profile(profiles: dict[str, dict[str, Any]], name: str) -> list[dict[str, Any]]:
    if name not in profiles:
        raise errors.ProfileNotFound(f"no profile {name!r}", name=name, known=list(profiles))
    return list(profiles[name]["breakpoints"])


@routes.get("/sessions/{session_id}/breakpoints", responses=shows(_MANY))
async def list_breakpoints(session: SessionHere) -> Json:
    """Every breakpoint; one whose file was missing is looked at again."""
    await _look_again(session)
    await inspection.count_hits(session)
    shown = [_shown(session, each) for each in session.breakpoints]
    return {
        "breakpoints": shown,
        "total": len(shown),
        "exception_breakpoints": rest.exception_filters(session.exceptions),
    }


async def _look_again(session: ProgramSession) -> None:
    found = session.breakpoints.refresh()
    if found:
        for each in found:
            session.event("breakpoint_verified", breakpoint_id=each.id)
        await _apply(session, found)


@routes.get("/sessions/{session_id}/breakpoints/{breakpoint_id}", responses=shows(_ONE))
async def get_breakpoint(session: SessionHere, breakpoint_id: str) -> Json:
    """One breakpoint."""
    await _look_again(session)
    await inspection.count_hits(session)
    return _shown(session, session.breakpoints.get(breakpoint_id))


@routes.patch("/sessions/{session_id}/breakpoints/{breakpoint_id}", responses=shows(_ONE))
async def change_breakpoint(
    session: SessionHere, breakpoint_id: str, body: bodies.BreakpointChanges
) -> Json:
    """Change, disable or enable a breakpoint."""
    changed = session.breakpoints.change(breakpoint_id, body.values())
    session.event("breakpoint_changed", **rest.breakpoint_(changed))
    await _apply(session, [changed])
    return _shown(session, changed)


@routes.delete(
    "/sessions/{session_id}/breakpoints/{breakpoint_id}", responses=shows({"deleted": True})
)
async def remove_breakpoint(session: SessionHere, breakpoint_id: str) -> Json:
    """Remove a breakpoint."""
    removed = session.breakpoints.remove(breakpoint_id)
    session.event("breakpoint_removed", breakpoint_id=breakpoint_id)
    await _apply(session, [removed])
    return {"deleted": True, "breakpoint_id": breakpoint_id}


@routes.delete("/sessions/{session_id}/breakpoints", responses=shows({"deleted": 3}))
async def clear_breakpoints(session: SessionHere) -> Json:
    """Remove them all."""
    removed = session.breakpoints.clear()
    session.event("breakpoints_cleared", count=len(removed))
    await _apply(session, removed)
    return {"deleted": len(removed)}


# -- exceptions -----------------------------------------------------------------------------------

_EXCEPTIONS = {"filters": ["uncaught"], "types": ["ValueError"]}


@routes.post("/sessions/{session_id}/exception-breakpoints", responses=shows(_EXCEPTIONS))
async def set_exceptions(session: SessionHere, body: bodies.ExceptionOptions) -> Json:
    """Which exceptions stop: `raised`, `uncaught`, `userUnhandled`; all, or those of some types."""
    for name in body.types:
        if not all(part.isidentifier() for part in name.split(".")):
            raise errors.InvalidInput(
                f"{name!r} is not the name of a class",
                hint="Give names such as ValueError, MyError or package.module.MyError.",
                field="types",
            )
    session.exceptions = ExceptionFilters(tuple(body.filters), tuple(body.types))
    session.event("exception_breakpoints_set", **rest.exception_filters(session.exceptions))
    target = session.target
    if target is not None and not session.over:
        await target.settled(target.post_exceptions(session.effective_exceptions))
    await session.saved()
    return rest.exception_filters(session.exceptions)


@routes.get("/sessions/{session_id}/exception-breakpoints", responses=shows(_EXCEPTIONS))
async def get_exceptions(session: SessionHere) -> Json:
    """Which exceptions stop this session's program."""
    return rest.exception_filters(session.exceptions)


@routes.delete("/sessions/{session_id}/exception-breakpoints", responses=shows({"deleted": True}))
async def clear_exceptions(session: SessionHere) -> Json:
    """No exception stops any more."""
    await set_exceptions(session, bodies.ExceptionOptions())
    return {"deleted": True}


# -- profiles -------------------------------------------------------------------------------------

_PROFILE = {"name": "checkout", "breakpoints": [{"file": "/code/checkout.py", "line": 42}]}


@routes.get("/breakpoint-profiles", responses=shows({"profiles": [_PROFILE], "total": 1}))
async def list_profiles(service: ServiceHere) -> Json:
    """Named sets of breakpoints, for any session."""
    found = [{"name": name, **stored} for name, stored in service.store.profiles().items()]
    return {"profiles": found, "total": len(found)}


@routes.post("/breakpoint-profiles", status_code=201, responses={201: shows(_PROFILE)[200]})
async def save_profile(service: ServiceHere, body: bodies.Profile) -> Json:
    """Save a set of breakpoints under a name, replacing what was there."""
    stored = {"breakpoints": [each.values() for each in body.breakpoints]}
    for each in stored["breakpoints"]:
        breakpoints.check(Breakpoint(id="bp_0", **each))
    await asyncio.wrap_future(service.store.put_profile(body.name, stored))
    return {"name": body.name, **stored}


@routes.get("/breakpoint-profiles/{name}", responses=shows(_PROFILE))
async def get_profile(service: ServiceHere, name: str) -> Json:
    """One profile."""
    return {"name": name, "breakpoints": _profile(service.store.profiles(), name)}


@routes.delete("/breakpoint-profiles/{name}", responses=shows({"deleted": True}))
async def delete_profile(service: ServiceHere, name: str) -> Json:
    """Forget a profile; breakpoints already set from it stay."""
    _profile(service.store.profiles(), name)
    await asyncio.wrap_future(service.store.delete_profile(name))
    return {"deleted": True, "name": name}
