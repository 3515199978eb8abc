"""Recorded calls: lists, one call, its tree; the functions; the values, and how two differ."""

from __future__ import annotations

from typing import Annotated

from starlette.responses import Response

from holdfast.server.route_table import Media, RouteList
from holdfast.service.debugger import Debugger
from holdfast.wire.call_answers import (
    CallDetail,
    CallPage,
    CallTree,
    FunctionList,
    Value,
    ValueComparison,
)
from holdfast.wire.call_requests import (
    CallSearch,
    DiffQuery,
    FunctionQuery,
    TreeQuery,
    ValueCallsQuery,
)

routes = RouteList("/api")
Pickle = Annotated[
    Response, Media("application/octet-stream", "The pickled value, as it was sent.")
]


@routes.get("/calls")
async def list_calls(debugger: Debugger, query: CallSearch) -> CallPage:
    """Calls, newest first. A page that found less than `limit` may still have a `next`."""
    return await debugger.calls.reader.list_calls(query)


@routes.get("/calls/{call_id}")
async def get_call(debugger: Debugger, call_id: str) -> CallDetail:
    """All of one call: values, stack, thread, task, parent, what it changed, what was decided.

    `result` is what the function returned; `delivered` is there if its caller was given something
    else, decided after the call: `result`, or `exception_type` and `exception_message`."""
    return await debugger.calls.reader.get_call(call_id)


@routes.get("/calls/{call_id}/tree")
async def get_tree(debugger: Debugger, call_id: str, query: TreeQuery) -> CallTree:
    """A call and the calls made within it, nested."""
    return await debugger.calls.reader.get_tree(call_id, query.limit)


@routes.get("/functions")
async def list_functions(debugger: Debugger, query: FunctionQuery) -> FunctionList:
    """What was registered or called, and how often."""
    return await debugger.calls.reader.list_functions(query.session)


# -- values --------------------------------------------------------------------------------------


@routes.get("/cid/{cid}")
async def get_content(debugger: Debugger, cid: str) -> Pickle:
    """The bytes of a value as they were sent: a pickle. Load it only if you trust its sender."""
    data = await debugger.calls.reader.get_content(cid)
    headers = {"content-disposition": f'attachment; filename="{cid[:16]}.pickle"'}
    return Response(data, media_type="application/octet-stream", headers=headers)


@routes.get("/cid/{cid}/preview")
async def get_preview(debugger: Debugger, cid: str) -> Value:
    """A value as text; `json` too when it is small and plain."""
    return await debugger.calls.reader.get_value(cid)


@routes.get("/cid/{cid}/calls")
async def calls_of_value(debugger: Debugger, cid: str, query: ValueCallsQuery) -> CallPage:
    """The calls that used a value: as argument, result, exception or target."""
    search = CallSearch(cid=cid, limit=query.limit, before=query.before)
    return await debugger.calls.reader.list_calls(search)


@routes.get("/diff")
async def diff(debugger: Debugger, query: DiffQuery) -> ValueComparison:
    """Where two values differ, by path; told from their bytes, without loading them."""
    return await debugger.calls.reader.compare(query.left, query.right)
