"""Breakpoints: lines, functions, values, exceptions; one, many, or a named profile of them."""

from __future__ import annotations

from holdfast.server.route_table import ProgramTarget, RouteList
from holdfast.service.debugger import Debugger
from holdfast.wire.program_answers import (
    BreakpointAnswer,
    BreakpointList,
    BreakpointsSet,
    DataBreakpointInfo,
    DeletedBreakpoint,
    DeletedProfile,
    ExceptionBreakpoints,
    ProfileAnswer,
    ProfileList,
)
from holdfast.wire.program_requests import (
    BreakpointChanges,
    BreakpointSpec,
    DataBreakpointSpec,
    DataInfoQuery,
    SaveProfile,
    SetBreakpoints,
    SetExceptionBreakpoints,
)
from holdfast.wire.session_answers import Deleted, DeletedCount

routes = RouteList()


@routes.post("/sessions/{session_id}/breakpoints", status=201)
async def add_breakpoints(
    debugger: Debugger, session: ProgramTarget, body: SetBreakpoints | list[BreakpointSpec]
) -> BreakpointAnswer | BreakpointsSet:
    """Set one breakpoint (an object), or several (a list): all of them or none.

    With `replace`, there is one for each line: what is there already is changed."""
    if isinstance(body, list):
        return await _add(session, body)
    if body.profile is not None:
        profile = await debugger.programs.profiles.get(body.profile)
        strict = [body.strict] * len(profile)
        return await session.program.breakpoints.add(profile, strict, replace=body.replace)
    if body.breakpoints is not None:
        return await _add(session, body.breakpoints, strict=body.strict, replace=body.replace)
    return (await _add(session, [body], replace=body.replace)).breakpoints[0]


async def _add(
    session: ProgramTarget,
    points: list[BreakpointSpec],
    *,
    strict: bool = False,
    replace: bool = False,
) -> BreakpointsSet:
    return await session.program.breakpoints.add(
        [point.fields() for point in points],
        [point.strict or strict for point in points],
        replace=replace,
    )


@routes.get("/sessions/{session_id}/breakpoints")
async def list_breakpoints(session: ProgramTarget) -> BreakpointList:
    """Every breakpoint; one whose file was missing is looked at again."""
    return await session.program.breakpoints.all()


@routes.get("/sessions/{session_id}/breakpoints/{breakpoint_id}")
async def get_breakpoint(session: ProgramTarget, breakpoint_id: str) -> BreakpointAnswer:
    """One breakpoint."""
    return await session.program.breakpoints.get(breakpoint_id)


@routes.patch("/sessions/{session_id}/breakpoints/{breakpoint_id}")
async def change_breakpoint(
    session: ProgramTarget, breakpoint_id: str, body: BreakpointChanges
) -> BreakpointAnswer:
    """Change, disable or enable a breakpoint."""
    return await session.program.breakpoints.change(breakpoint_id, body.changes())


@routes.delete("/sessions/{session_id}/breakpoints/{breakpoint_id}")
async def remove_breakpoint(session: ProgramTarget, breakpoint_id: str) -> DeletedBreakpoint:
    """Remove a breakpoint."""
    await session.program.breakpoints.remove(breakpoint_id)
    return DeletedBreakpoint(breakpoint_id)


@routes.delete("/sessions/{session_id}/breakpoints")
async def clear_breakpoints(session: ProgramTarget) -> DeletedCount:
    """Remove them all."""
    return DeletedCount(await session.program.breakpoints.clear())


# -- values ---------------------------------------------------------------------------------------


@routes.get("/sessions/{session_id}/data-breakpoint-info")
async def find_data(session: ProgramTarget, query: DataInfoQuery) -> DataBreakpointInfo:
    """Whether a value can be watched, and the id of its place: a variable of this frame, an
    attribute of this object, an item of this container, not whatever has the same name."""
    breakpoints = session.program.breakpoints
    with session.program.stops.reading(query.hold_id):
        return await breakpoints.find_data(query.name, query.frame_id, query.reference)


@routes.post("/sessions/{session_id}/data-breakpoints", status=201)
async def watch_data(
    session: ProgramTarget, body: DataBreakpointSpec | list[DataBreakpointSpec]
) -> BreakpointAnswer | BreakpointsSet:
    """Stop when a value is written, or changes: one (an object), or several (a list)."""
    specs = body if isinstance(body, list) else [body]
    made = await session.program.breakpoints.add_data([spec.fields() for spec in specs])
    return made if isinstance(body, list) else made.breakpoints[0]


@routes.get("/sessions/{session_id}/data-breakpoints")
async def list_data(session: ProgramTarget) -> BreakpointsSet:
    """Every breakpoint on a value."""
    points = [p for p in (await session.program.breakpoints.all()).breakpoints if p.kind == "data"]
    return BreakpointsSet(points, len(points))


@routes.delete("/sessions/{session_id}/data-breakpoints")
async def clear_data(session: ProgramTarget) -> DeletedCount:
    """Watch no value any more."""
    return DeletedCount(await session.program.breakpoints.clear_data())


# -- exceptions -----------------------------------------------------------------------------------


@routes.post("/sessions/{session_id}/exception-breakpoints")
async def set_exceptions(
    session: ProgramTarget, body: SetExceptionBreakpoints
) -> ExceptionBreakpoints:
    """Which exceptions stop: `raised`, `uncaught`, `userUnhandled`; all, or those of some types."""
    return await session.program.breakpoints.set_exceptions(body.filters, body.types)


@routes.get("/sessions/{session_id}/exception-breakpoints")
async def get_exceptions(session: ProgramTarget) -> ExceptionBreakpoints:
    """Which exceptions stop this session's program."""
    return session.program.breakpoints.exceptions_answer()


@routes.delete("/sessions/{session_id}/exception-breakpoints")
async def clear_exceptions(session: ProgramTarget) -> Deleted:
    """No exception stops any more."""
    await session.program.breakpoints.set_exceptions((), ())
    return Deleted()


# -- profiles -------------------------------------------------------------------------------------


@routes.get("/breakpoint-profiles")
async def list_profiles(debugger: Debugger) -> ProfileList:
    """Named sets of breakpoints, for any session."""
    return await debugger.programs.profiles.list()


@routes.post("/breakpoint-profiles", status=201)
async def save_profile(debugger: Debugger, body: SaveProfile) -> ProfileAnswer:
    """Save a set of breakpoints under a name, replacing what was there."""
    points = [point.fields() for point in body.breakpoints]
    return await debugger.programs.profiles.save(body.name, points)


@routes.get("/breakpoint-profiles/{name}")
async def get_profile(debugger: Debugger, name: str) -> ProfileAnswer:
    """One profile."""
    return await debugger.programs.profiles.describe(name)


@routes.delete("/breakpoint-profiles/{name}")
async def delete_profile(debugger: Debugger, name: str) -> DeletedProfile:
    """Forget a profile; breakpoints already set from it stay."""
    await debugger.programs.profiles.delete(name)
    return DeletedProfile(name)
