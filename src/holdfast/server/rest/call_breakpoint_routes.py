"""Call breakpoints: which calls are held, or answered at once; they outlive the server."""

from __future__ import annotations

from fastapi import Response

from holdfast.server.rest import bodies
from holdfast.server.rest.shared import Json, ServiceHere, render, router, shows
from holdfast.service.calls.call_renderer import build_breakpoint
from holdfast.wire.call_answers import CallBreakpointList

routes = router()
_POINT = {
    "id": "cbp_1",
    "breakpoint_id": "cbp_1",
    "function": "add",
    "condition": "args[0] > 10",
    "when": "before",
    "enabled": True,
    "hits": 0,
    "undecided": 0,
}


@routes.get("/breakpoints", responses=shows({"breakpoints": [_POINT], "total": 1}))
async def list_breakpoints(service: ServiceHere) -> Response:
    """Every call breakpoint."""
    points = [build_breakpoint(armed) for armed in service.calls.breakpoints.all()]
    return render(CallBreakpointList(breakpoints=points, total=len(points)))


@routes.post("/breakpoints", status_code=201, responses={201: shows(_POINT)[200]})
async def add_breakpoint(service: ServiceHere, body: bodies.NewCallBreakpoint) -> Response:
    """Hold calls that match; with `action`, do that at once instead. In force when this answers."""
    return render(build_breakpoint(await service.calls.breakpoints.add(body.given())), 201)


@routes.delete("/breakpoints", responses=shows({"deleted": 1}))
async def clear_breakpoints(service: ServiceHere) -> Json:
    """Remove every call breakpoint; what is held stays held until it is decided."""
    return {"deleted": await service.calls.breakpoints.clear()}


@routes.get("/breakpoints/{breakpoint_id}", responses=shows(_POINT))
async def get_breakpoint(service: ServiceHere, breakpoint_id: str) -> Response:
    """One call breakpoint."""
    return render(build_breakpoint(service.calls.breakpoints.get(breakpoint_id)))


@routes.patch("/breakpoints/{breakpoint_id}", responses=shows(_POINT))
async def change_breakpoint(
    service: ServiceHere, breakpoint_id: str, body: bodies.CallBreakpointBody
) -> Response:
    """Change a call breakpoint; a field left out stays, null takes it away."""
    armed = await service.calls.breakpoints.change(breakpoint_id, body.given())
    return render(build_breakpoint(armed))


@routes.delete("/breakpoints/{breakpoint_id}", responses=shows({"deleted": True}))
async def remove_breakpoint(service: ServiceHere, breakpoint_id: str) -> Json:
    """Remove one call breakpoint."""
    await service.calls.breakpoints.remove(breakpoint_id)
    return {"deleted": True, "breakpoint_id": breakpoint_id}
