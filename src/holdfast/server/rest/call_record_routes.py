"""Recorded calls: lists, one call, its tree; the functions; the values, and how two differ."""

from __future__ import annotations

import dataclasses
from typing import Annotated

from fastapi import Query, Request, Response

from holdfast import errors
from holdfast.server.rest.shared import ServiceHere, render, router, shows
from holdfast.service.calls.call_reader import CallSearch

routes = router()
_CID = "4ee5d22e9e44ec6480a2fc727c72c7886855f94562e8549cfae9a33f7361574b"
_VALUE = {"cid": _CID, "text": "7", "type": "int"}
_CALL = {
    "call_id": "1768298400.123456-001",
    "session_id": "calls_1a2b3c4d",
    "method_name": "add",
    "call_type": "proxy",
    "status": "success",
    "args": [_VALUE],
    "kwargs": {},
    "result_cid": _CID,
    "result": _VALUE,
    "duration_ms": 0.8,
}
_PAGE = {
    "calls": [_CALL],
    "count": 1,
    "next": None,
    "has_more": False,
    "looked_at": 1,
    "undecided": 0,
}
_QUERY = {field.name for field in dataclasses.fields(CallSearch)}
Limit = Annotated[int, Query(ge=1, le=1000)]


@routes.get("/calls", responses=shows(_PAGE))
async def list_calls(
    request: Request,
    service: ServiceHere,
    function: Annotated[
        str | None, Query(description="a name, or a pattern such as Cart.*")
    ] = None,
    alias: str | None = None,
    session: str | None = None,
    status: Annotated[str | None, Query(description="running, success, exception or lost")] = None,
    call_type: str | None = None,
    since: Annotated[float | None, Query(description="seconds since the epoch")] = None,
    until: float | None = None,
    cid: Annotated[str | None, Query(description="a value that the call used")] = None,
    filter: Annotated[  # noqa: A002
        str | None, Query(description="an expression such as args[0] > 10")
    ] = None,
    limit: Limit = 100,
    before: Annotated[str | None, Query(description="`next` of the page before")] = None,
) -> Response:
    """Calls, newest first. A page that found less than `limit` may still have a `next`."""
    unknown = sorted(set(request.query_params) - _QUERY)
    if unknown:
        raise errors.InvalidInput(
            f"{unknown[0]}: no such parameter; there are {', '.join(sorted(_QUERY))}",
            field=unknown[0],
            unknown=unknown,
        )
    search = CallSearch(
        *(function, alias, session, status, call_type, since, until, cid, filter, before), limit
    )
    return render(await service.calls.reader.list_calls(search))


@routes.get(
    "/calls/{call_id}",
    responses=shows(
        {
            **_CALL,
            "call_site": {"timestamp": 1768298400.12, "stack_trace": []},
            "thread": {"id": 1, "name": "MainThread"},
            "task": None,
            "parent_call_id": None,
            "changed": None,
            "decision": {"action": "skip", "by": "me", "when": "after", "fake_result_cid": _CID},
            "delivered": {"result": _VALUE},
        }
    ),
)
async def get_call(service: ServiceHere, call_id: str) -> Response:
    """All of one call: values, stack, thread, task, parent, what it changed, what was decided.

    `result` is what the function returned; `delivered` is there if its caller was given something
    else, decided after the call: `result`, or `exception_type` and `exception_message`."""
    return render(await service.calls.reader.get_call(call_id))


@routes.get(
    "/calls/{call_id}/tree",
    responses=shows({"call": {**_CALL, "children": []}, "complete": True, "total": 1}),
)
async def get_tree(service: ServiceHere, call_id: str, limit: Limit = 500) -> Response:
    """A call and the calls made within it, nested."""
    return render(await service.calls.reader.get_tree(call_id, limit))


_FUNCTION = {
    "name": "add",
    "alias": None,
    "signature": "(a, b)",
    "calls": 3,
    "sessions": ["calls_1a2b3c4d"],
}


@routes.get("/functions", responses=shows({"functions": [_FUNCTION], "total": 1}))
async def list_functions(service: ServiceHere, session: str | None = None) -> Response:
    """What was registered or called, and how often."""
    return render(await service.calls.reader.list_functions(session))


# -- values --------------------------------------------------------------------------------------

_BYTES = {200: {"content": {"application/octet-stream": {"example": "the bytes"}}}}


@routes.get("/cid/{cid}", responses=_BYTES, response_class=Response)  # type: ignore[arg-type]
async def get_content(service: ServiceHere, cid: str) -> Response:
    """The bytes of a value as they were sent: a pickle. Load it only if you trust its sender."""
    data = await service.calls.reader.get_content(cid)
    headers = {"content-disposition": f'attachment; filename="{cid[:16]}.pickle"'}
    return Response(data, media_type="application/octet-stream", headers=headers)


@routes.get("/cid/{cid}/preview", responses=shows(_VALUE))
async def get_preview(service: ServiceHere, cid: str) -> Response:
    """A value as text; `json` too when it is small and plain."""
    return render(await service.calls.reader.get_value(cid))


@routes.get("/cid/{cid}/calls", responses=shows(_PAGE))
async def calls_of_value(
    service: ServiceHere, cid: str, limit: Limit = 100, before: str | None = None
) -> Response:
    """The calls that used a value: as argument, result, exception or target."""
    search = CallSearch(cid=cid, limit=limit, before=before)
    return render(await service.calls.reader.list_calls(search))


_DIFFERENCE = {"path": "[1].name", "change": "changed", "left": "'a'", "right": "'b'"}


@routes.get(
    "/diff", responses=shows({"equal": False, "differences": [_DIFFERENCE], "complete": True})
)
async def diff(service: ServiceHere, left: str, right: str) -> Response:
    """Where two values differ, by path; told from their bytes, without loading them."""
    return render(await service.calls.reader.compare(left, right))
