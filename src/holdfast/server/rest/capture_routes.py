"""The captures of failing tests, which `pytest --holdfast` writes."""

from __future__ import annotations

from holdfast.server.route_table import RouteList
from holdfast.service.debugger import Debugger
from holdfast.wire.capture_answers import Capture, CaptureList, DeletedCaptures
from holdfast.wire.session_requests import CaptureQuery

routes = RouteList("/api")


@routes.get("/captures")
async def list_captures(debugger: Debugger, query: CaptureQuery) -> CaptureList:
    """The failing tests that `pytest --holdfast` has captured, newest first."""
    return await debugger.captures.list(query.limit)


@routes.get("/captures/{capture_id}")
async def get_capture(debugger: Debugger, capture_id: str) -> Capture:
    """One of them, by its id, the beginning of its id, or `latest`: frames, values, output."""
    return await debugger.captures.get(capture_id)


@routes.delete("/captures/{capture_id}")
async def delete_capture(debugger: Debugger, capture_id: str) -> DeletedCaptures:
    """Delete one, or with `all` all of them."""
    return DeletedCaptures(deleted=await debugger.captures.delete(capture_id))
