"""Calls: what an application reports as it calls, and what it is told to do."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from fastapi import Request, Response

import holdfast
from holdfast import errors
from holdfast.server.error_answers import status_of
from holdfast.server.rest.shared import render, router, seconds_of, shows
from holdfast.service.debugger import Debugger
from holdfast.wire import batch_format, call_requests, rest
from holdfast.wire.call_answers import (
    BatchReceipt,
    CompleteAnswer,
    Lease,
    OpenedSession,
    PollAnswer,
    Receipt,
    StartAnswer,
)
from holdfast.wire.call_requests import build_flat_error

Json = dict[str, Any]
routes = router()
_SEVEN = {
    "cid": "4ee5d22e9e44ec6480a2fc727c72c7886855f94562e8549cfae9a33f7361574b",
    "data": "gARLBy4=",
    "preview": {"text": "7", "type": "int", "json": 7},
}
_CALL_ID = "1768298400.123456-001"


def takes(example: Json) -> Json:
    """These routes read their bodies themselves; the document shows what they take."""
    content = {"schema": {"type": "object"}, "example": example}
    return {"requestBody": {"required": True, "content": {"application/json": content}}}


def said(shown: Json, status: int = 200) -> Response:
    return Response(rest.encode(shown), status, media_type="application/json")


async def flat(work: Callable[[], Awaitable[msgspec.Struct]]) -> Response:
    """The answer; an error that the application can act on is said flat, as it knows them."""
    try:
        return render(await work())
    except errors.CidNotFound as problem:
        return said(build_flat_error(problem.short, problem.message, problem.details), 404)
    except errors.HoldfastError as problem:
        status = status_of(problem)
        if status >= 500:
            raise  # one of ours, said and logged as everywhere
        details = {"error_code": problem.short, "hint": problem.hint, **problem.details}
        return said(build_flat_error(problem.short, problem.message, details), status)


_START = {
    "method_name": "add",
    "target_cid": "0" * 64,
    "args": [_SEVEN],
    "kwargs": {"b": {"cid": _SEVEN["cid"]}},
    "call_site": {
        "timestamp": 1768298400.123,
        "target_cid": "0" * 64,
        "stack_trace": [
            {
                "filename": "/code/main.py",
                "lineno": 42,
                "function": "main",
                "code_context": "result = calculator.add(1, 2)",
            }
        ],
    },
    "call_type": "proxy",
}


@routes.post(
    "/call/start",
    openapi_extra=takes(_START),
    responses=shows({"call_id": _CALL_ID, "action": "continue"}),
    response_model=None,
)
async def start(request: Request) -> Response:
    """A call is about to be made: what shall become of it? `continue`, `poll`, `skip`, `raise`…"""
    service: Debugger = request.app.state.service
    limit = service.settings.call_max_value_bytes

    async def work() -> StartAnswer:
        start = call_requests.parse_start(call_requests.parse_body(await request.body()), limit)
        await service.calls.wait_for_room()
        return await service.calls.recorder.start(start)

    return await flat(work)


@routes.post(
    "/call/complete",
    openapi_extra=takes({"call_id": _CALL_ID, "status": "success", "timestamp": 1768298400.2}),
    responses=shows({"status": "ok"}),
    response_model=None,
)
async def complete(request: Request) -> Response:
    """A call has ended, with a result or an exception."""
    service: Debugger = request.app.state.service
    limit = service.settings.call_max_value_bytes

    async def work() -> CompleteAnswer:
        complete = call_requests.parse_complete(
            call_requests.parse_body(await request.body()), limit
        )
        await service.calls.wait_for_room()
        return await service.calls.recorder.complete(complete)

    return await flat(work)


@routes.get("/poll/{call_id}", responses=shows({"status": "waiting"}), response_model=None)
async def poll(request: Request, call_id: str, wait: str | None = None) -> Response:
    """What was decided about a held call; with `wait` the answer comes as soon as there is one."""
    service: Debugger = request.app.state.service

    async def work() -> PollAnswer:
        return await service.calls.holds.poll(call_id, seconds_of(wait, service))

    return await flat(work)


@routes.delete("/poll/{call_id}", responses=shows({"status": "ok"}), response_model=None)
async def give_up(request: Request, call_id: str) -> Response:
    """The application waits no longer: whoever called was cancelled, or had no more time."""
    service: Debugger = request.app.state.service

    async def work() -> Receipt:
        service.calls.holds.give_up(call_id)
        return Receipt()

    return await flat(work)


@routes.post(
    "/poll/{call_id}/answer",
    openapi_extra=takes({"request_id": "eval_1", "result": {"text": "3", "type": "int"}}),
    responses=shows({"status": "ok"}),
    response_model=None,
)
async def answer(request: Request, call_id: str) -> Response:
    """What an expression came to that the poll asked for."""
    service: Debugger = request.app.state.service

    async def work() -> Receipt:
        body = call_requests.parse_body(await request.body())
        answer = call_requests.parse_evaluation(body)
        is_awaited = service.calls.holds.answer_evaluation(call_id, answer)
        return Receipt("ok" if is_awaited else "late")

    return await flat(work)


@routes.post(
    "/call/records",
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                batch_format.MEDIA_TYPE: {"schema": {"type": "string", "format": "binary"}}
            },
        }
    },
    responses=shows({"status": "ok", "taken": 500}),
    response_model=None,
)
async def records(request: Request) -> Response:
    """Calls of a leased application after the fact, in batches; kept whole or not at all."""
    service: Debugger = request.app.state.service
    limit = service.settings.call_max_value_bytes

    async def work() -> BatchReceipt:
        body = await request.body()
        await service.calls.wait_for_room()
        return await service.calls.batches.record(body, limit)

    return await flat(work)


@routes.get(
    "/call/rules",
    responses=shows({"epoch": 1768298400123456789, "board": None, "rules": [{"function": "add"}]}),
    response_model=None,
)
async def rules(request: Request, session_id: str | None = None) -> Response:
    """What a leased application must ask about before it calls, and where it sees that change."""
    service: Debugger = request.app.state.service

    async def work() -> Lease:
        return service.calls.leases.renew(session_id)

    return await flat(work)


_ABOUT = {"pid": 4321, "argv": ["main.py"], "cwd": "/code", "python": "3.12.1", "name": "shop"}


@routes.post(
    "/call/session",
    openapi_extra=takes(_ABOUT),
    responses=shows({"session_id": "calls_1a2b3c4d", "server_pid": 4000, "version": "0.1.0"}),
    response_model=None,
)
async def begin_session(request: Request) -> Response:
    """An application begins to report its calls."""
    service: Debugger = request.app.state.service

    async def work() -> OpenedSession:
        body = call_requests.parse_body(await request.body())
        session = service.calls.sessions.open(call_requests.parse_application(body))
        lease = {}
        if session.is_leased:
            lease = msgspec.structs.asdict(service.calls.leases.renew(session.id))
        return OpenedSession(
            session_id=session.id,
            server_pid=os.getpid(),
            version=holdfast.__version__,
            **lease,
        )

    return await flat(work)


@routes.post(
    "/call/session/end",
    openapi_extra=takes({"session_id": "calls_1a2b3c4d"}),
    responses=shows({"status": "ok"}),
    response_model=None,
)
async def end_session(request: Request) -> Response:
    """An application reports no more calls."""
    service: Debugger = request.app.state.service

    async def work() -> Receipt:
        body = call_requests.parse_body(await request.body())
        calls = service.calls
        calls.sessions.end(calls.sessions.require(call_requests.parse_text(body, "session_id")))
        return Receipt()

    return await flat(work)


@routes.post(
    "/call/register",
    openapi_extra=takes({"name": "add", "signature": "(a, b)"}),
    responses=shows({"status": "ok"}),
    response_model=None,
)
async def register(request: Request) -> Response:
    """A callable that may be called, or stand in for another; never pauses."""
    service: Debugger = request.app.state.service

    async def work() -> Receipt:
        body = call_requests.parse_body(await request.body())
        service.calls.recorder.register(call_requests.parse_registration(body))
        return Receipt()

    return await flat(work)
