"""Call breakpoints: which calls are held, or answered at once; they outlive the server."""

from __future__ import annotations

from holdfast.server.route_table import RouteList
from holdfast.service.debugger import Debugger
from holdfast.wire.call_answers import (
    CallBreakpointAnswer,
    CallBreakpointList,
    ClearedCallBreakpoints,
    RemovedCallBreakpoint,
)
from holdfast.wire.call_requests import CallBreakpointFields, RemovalQuery

routes = RouteList("/api")


@routes.get("/breakpoints")
async def list_breakpoints(debugger: Debugger) -> CallBreakpointList:
    """Every call breakpoint."""
    return debugger.calls.breakpoints.list()


@routes.post("/breakpoints", status=201)
async def add_breakpoint(debugger: Debugger, body: CallBreakpointFields) -> CallBreakpointAnswer:
    """Hold calls that match; with `action`, do that at once instead. In force when this answers."""
    return await debugger.calls.breakpoints.add(body.get_fields())


@routes.delete("/breakpoints")
async def clear_breakpoints(debugger: Debugger, query: RemovalQuery) -> ClearedCallBreakpoints:
    """Remove every call breakpoint; what is held stays held, unless `release` continues it."""
    return await debugger.calls.removal.clear(query.release, query.by or "rest")


@routes.get("/breakpoints/{breakpoint_id}")
async def get_breakpoint(debugger: Debugger, breakpoint_id: str) -> CallBreakpointAnswer:
    """One call breakpoint."""
    return debugger.calls.breakpoints.describe(breakpoint_id)


@routes.patch("/breakpoints/{breakpoint_id}")
async def change_breakpoint(
    debugger: Debugger, breakpoint_id: str, body: CallBreakpointFields
) -> CallBreakpointAnswer:
    """Change a call breakpoint; a field left out stays, null takes it away."""
    return await debugger.calls.breakpoints.change(breakpoint_id, body.get_fields())


@routes.delete("/breakpoints/{breakpoint_id}")
async def remove_breakpoint(
    debugger: Debugger, breakpoint_id: str, query: RemovalQuery
) -> RemovedCallBreakpoint:
    """Remove one call breakpoint; what it holds stays held, unless `release` continues it."""
    return await debugger.calls.removal.remove(breakpoint_id, query.release, query.by or "rest")
