"""Breakpoints: lines, functions, exceptions; one, many, or a named profile of them."""

from __future__ import annotations

from typing import Annotated

from fastapi import Body

from holdfast.server.rest import bodies
from holdfast.server.rest.shared import Answer, Json, ProgramHere, ServiceHere, router, shows

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


@routes.post(
    "/sessions/{session_id}/breakpoints", status_code=201, responses={201: shows(_ONE)[200]}
)
async def add_breakpoints(
    service: ServiceHere,
    session: ProgramHere,
    body: Annotated[
        bodies.BreakpointBody,
        Body(examples=[{"file": "/code/main.py", "line": 10, "condition": "i > 100"}]),
    ],
) -> Answer:
    """Set one breakpoint (an object), or several (a list): all of them or none."""
    single = isinstance(body, bodies.BreakpointSpec)
    if isinstance(body, bodies.BreakpointSpecs) and body.profile is not None:
        specs = await service.programs.profiles.get(body.profile)
        strict = [body.strict] * len(specs)
    else:
        listed = _listed(body)
        specs = [each.values() for each in listed]
        all_strict = isinstance(body, bodies.BreakpointSpecs) and body.strict
        strict = [each.strict or all_strict for each in listed]
    answer = await session.breakpoints.add(specs, strict)
    return Answer(answer.breakpoints[0] if single else answer, 201)


def _listed(
    body: bodies.BreakpointSpec | list[bodies.BreakpointSpec] | bodies.BreakpointSpecs,
) -> list[bodies.BreakpointSpec]:
    if isinstance(body, bodies.BreakpointSpec):
        return [body]
    return body if isinstance(body, list) else list(body.breakpoints or [])


@routes.get("/sessions/{session_id}/breakpoints", responses=shows(_MANY))
async def list_breakpoints(session: ProgramHere) -> Answer:
    """Every breakpoint; one whose file was missing is looked at again."""
    return Answer(await session.breakpoints.all())


@routes.get("/sessions/{session_id}/breakpoints/{breakpoint_id}", responses=shows(_ONE))
async def get_breakpoint(session: ProgramHere, breakpoint_id: str) -> Answer:
    """One breakpoint."""
    return Answer(await session.breakpoints.get(breakpoint_id))


@routes.patch("/sessions/{session_id}/breakpoints/{breakpoint_id}", responses=shows(_ONE))
async def change_breakpoint(
    session: ProgramHere, breakpoint_id: str, body: bodies.BreakpointChanges
) -> Answer:
    """Change, disable or enable a breakpoint."""
    return Answer(await session.breakpoints.change(breakpoint_id, body.values()))


@routes.delete(
    "/sessions/{session_id}/breakpoints/{breakpoint_id}", responses=shows({"deleted": True})
)
async def remove_breakpoint(session: ProgramHere, breakpoint_id: str) -> Json:
    """Remove a breakpoint."""
    await session.breakpoints.remove(breakpoint_id)
    return {"deleted": True, "breakpoint_id": breakpoint_id}


@routes.delete("/sessions/{session_id}/breakpoints", responses=shows({"deleted": 3}))
async def clear_breakpoints(session: ProgramHere) -> Json:
    """Remove them all."""
    return {"deleted": await session.breakpoints.clear()}


# -- exceptions -----------------------------------------------------------------------------------

_EXCEPTIONS = {"filters": ["uncaught"], "types": ["ValueError"]}


@routes.post("/sessions/{session_id}/exception-breakpoints", responses=shows(_EXCEPTIONS))
async def set_exceptions(session: ProgramHere, body: bodies.ExceptionOptions) -> Answer:
    """Which exceptions stop: `raised`, `uncaught`, `userUnhandled`; all, or those of some types."""
    return Answer(await session.breakpoints.set_exceptions(body.filters, body.types))


@routes.get("/sessions/{session_id}/exception-breakpoints", responses=shows(_EXCEPTIONS))
async def get_exceptions(session: ProgramHere) -> Answer:
    """Which exceptions stop this session's program."""
    return Answer(session.breakpoints.exceptions_answer())


@routes.delete("/sessions/{session_id}/exception-breakpoints", responses=shows({"deleted": True}))
async def clear_exceptions(session: ProgramHere) -> Json:
    """No exception stops any more."""
    await session.breakpoints.set_exceptions((), ())
    return {"deleted": True}


# -- profiles -------------------------------------------------------------------------------------

_PROFILE = {"name": "checkout", "breakpoints": [{"file": "/code/checkout.py", "line": 42}]}


@routes.get("/breakpoint-profiles", responses=shows({"profiles": [_PROFILE], "total": 1}))
async def list_profiles(service: ServiceHere) -> Json:
    """Named sets of breakpoints, for any session."""
    profiles = await service.programs.profiles.all()
    listed = [{"name": name, "breakpoints": points} for name, points in profiles.items()]
    return {"profiles": listed, "total": len(listed)}


@routes.post("/breakpoint-profiles", status_code=201, responses={201: shows(_PROFILE)[200]})
async def save_profile(service: ServiceHere, body: bodies.Profile) -> Json:
    """Save a set of breakpoints under a name, replacing what was there."""
    points = [each.values() for each in body.breakpoints]
    await service.programs.profiles.save(body.name, points)
    return {"name": body.name, "breakpoints": points}


@routes.get("/breakpoint-profiles/{name}", responses=shows(_PROFILE))
async def get_profile(service: ServiceHere, name: str) -> Json:
    """One profile."""
    return {"name": name, "breakpoints": await service.programs.profiles.get(name)}


@routes.delete("/breakpoint-profiles/{name}", responses=shows({"deleted": True}))
async def delete_profile(service: ServiceHere, name: str) -> Json:
    """Forget a profile; breakpoints already set from it stay."""
    await service.programs.profiles.delete(name)
    return {"deleted": True, "name": name}
