"""Call breakpoints: which calls are held, or answered at once; they outlive the server."""

from __future__ import annotations

from holdfast.server.rest import bodies
from holdfast.server.rest.shared import Json, ServiceHere, router, shows
from holdfast.service.calls.call_renderer import breakpoint_json as shown

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
async def list_breakpoints(service: ServiceHere) -> Json:
    """Every call breakpoint."""
    found = [shown(each) for each in service.calls.breakpoints.all()]
    return {"breakpoints": found, "total": len(found)}


@routes.post("/breakpoints", status_code=201, responses={201: shows(_POINT)[200]})
async def add_breakpoint(service: ServiceHere, body: bodies.NewCallBreakpoint) -> Json:
    """Hold calls that match; with `action`, do that at once instead. In force when this answers."""
    return shown(await service.calls.add_breakpoint(body.given()))


@routes.delete("/breakpoints", responses=shows({"deleted": 1}))
async def clear_breakpoints(service: ServiceHere) -> Json:
    """Remove every call breakpoint; what is held stays held until it is decided."""
    return {"deleted": len(await service.calls.clear_breakpoints())}


@routes.get("/breakpoints/{breakpoint_id}", responses=shows(_POINT))
async def get_breakpoint(service: ServiceHere, breakpoint_id: str) -> Json:
    """One call breakpoint."""
    return shown(service.calls.breakpoints.get(breakpoint_id))


@routes.patch("/breakpoints/{breakpoint_id}", responses=shows(_POINT))
async def change_breakpoint(
    service: ServiceHere, breakpoint_id: str, body: bodies.CallBreakpointBody
) -> Json:
    """Change a call breakpoint; a field left out stays, null takes it away."""
    return shown(await service.calls.change_breakpoint(breakpoint_id, body.given()))


@routes.delete("/breakpoints/{breakpoint_id}", responses=shows({"deleted": True}))
async def remove_breakpoint(service: ServiceHere, breakpoint_id: str) -> Json:
    """Remove one call breakpoint."""
    await service.calls.remove_breakpoint(breakpoint_id)
    return {"deleted": True, "breakpoint_id": breakpoint_id}
