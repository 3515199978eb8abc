"""Recorded calls: lists, one call, its tree; the functions; the values, and how two differ."""

from __future__ import annotations

from typing import Annotated

from starlette.responses import Response

from holdfast import errors
from holdfast.server.rest.shared import parse_seconds
from holdfast.server.route_table import Documented, Media, RouteList
from holdfast.service.debugger import Debugger
from holdfast.wire.call_answers import (
    CallDetail,
    CallPage,
    CallTimeline,
    CallTree,
    FunctionList,
    Value,
    ValueComparison,
)
from holdfast.wire.call_requests import (
    CallSearch,
    DiffQuery,
    FunctionQuery,
    TimelineQuery,
    TreeQuery,
    ValueCallsQuery,
)

routes = RouteList("/api")
Timeline = Annotated[Response, Documented(CallTimeline)]
"""It is encoded by a thread, because it may be large."""
Pickle = Annotated[
    Response, Media("application/octet-stream", "The pickled value, as it was sent.")
]


@routes.get("/calls")
async def list_calls(debugger: Debugger, query: CallSearch) -> CallPage:
    """Calls, newest first. A page that found less than `limit` may still have a `next`.

    With `after`, what was recorded or changed since then, in the order in which the server heard of
    it: a call comes again when it ends or is decided. `next` is never null then: ask with it again,
    at once if `has_more`. The server remembers the last 100,000 such arrivals since it started;
    with an older cursor the answer has `missed` and begins now.
    """
    seconds = parse_seconds(query.wait, debugger)
    if query.after is None:
        if query.wait is not None:
            raise errors.InvalidInput("wait goes with after", field="wait")
        return await debugger.calls.reader.list_calls(query)
    if query.before is not None:
        raise errors.InvalidInput("after goes without before", field="after")
    return await debugger.calls.reader.follow_calls(query, query.after, seconds)


@routes.get("/calls/timeline")
async def get_timeline(debugger: Debugger, query: TimelineQuery) -> Timeline:
    """When and where calls ran, in columns: the newest `limit` of the range, the oldest first.

    A filter over the values of calls looks at the newest 20,000 of them; one over `function`,
    `alias`, `call_type`, `status`, `duration`, `thread` and `task` at all `limit`.
    """
    body = await debugger.calls.timeline.read(query)
    return Response(body, media_type="application/json")


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
    """A value as text; `json` too when it is small and plain, `literal` when it is plain."""
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
