"""Calls: what an application reports as it calls, and what it is told to do."""

from __future__ import annotations

from typing import Annotated

from holdfast.server.rest.shared import parse_seconds
from holdfast.server.route_table import Documented, Media, RouteList
from holdfast.service.debugger import Debugger
from holdfast.wire import batch_format, call_requests
from holdfast.wire.call_answers import (
    BatchReceipt,
    CompleteAnswer,
    Lease,
    OpenedSession,
    PollAnswer,
    Receipt,
    StartAnswer,
)
from holdfast.wire.call_requests import LeaseQuery, PollQuery

routes = RouteList("/api")
# These bodies are checked by hand, because they come thousands of times a second.
StartBody = Annotated[bytes, Documented(call_requests.StartFields)]
CompleteBody = Annotated[bytes, Documented(call_requests.CompleteFields)]
AnswerBody = Annotated[bytes, Documented(call_requests.AnswerFields)]
ApplicationBody = Annotated[bytes, Documented(call_requests.ApplicationFields)]
EndBody = Annotated[bytes, Documented(call_requests.EndFields)]
RegistrationBody = Annotated[bytes, Documented(call_requests.RegistrationFields)]
Batch = Annotated[bytes, Media(batch_format.MEDIA_TYPE, "A batch of calls.")]


@routes.post("/call/start", flat_errors=True, at_once=True)
async def start(debugger: Debugger, body: StartBody) -> StartAnswer:
    """A call is about to be made: what shall become of it? `continue`, `poll`, `skip`, `raise`…"""
    limit = debugger.settings.call_max_value_bytes
    request = call_requests.parse_start(call_requests.parse_body(body), limit)
    await debugger.calls.wait_for_room()
    return await debugger.calls.recorder.start(request)


@routes.post("/call/complete", flat_errors=True, at_once=True)
async def complete(debugger: Debugger, body: CompleteBody) -> CompleteAnswer:
    """A call has ended, with a result or an exception."""
    limit = debugger.settings.call_max_value_bytes
    request = call_requests.parse_complete(call_requests.parse_body(body), limit)
    await debugger.calls.wait_for_room()
    return await debugger.calls.recorder.complete(request)


@routes.get("/poll/{call_id}", flat_errors=True)
async def poll(debugger: Debugger, call_id: str, query: PollQuery) -> PollAnswer:
    """What was decided about a held call; with `wait` the answer comes as soon as there is one."""
    return await debugger.calls.holds.poll(call_id, parse_seconds(query.wait, debugger))


@routes.delete("/poll/{call_id}", flat_errors=True)
async def give_up(debugger: Debugger, call_id: str) -> Receipt:
    """The application waits no longer: whoever called was cancelled, or had no more time."""
    debugger.calls.holds.give_up(call_id)
    return Receipt()


@routes.post("/poll/{call_id}/answer", flat_errors=True)
async def answer(debugger: Debugger, call_id: str, body: AnswerBody) -> Receipt:
    """The answer to what the poll asked: an expression's value, or whether a decision works."""
    given = call_requests.parse_question_answer(call_requests.parse_body(body))
    is_awaited = debugger.calls.holds.answer_question(call_id, given)
    return Receipt("ok" if is_awaited else "late")


@routes.post("/call/records", flat_errors=True)
async def records(debugger: Debugger, body: Batch) -> BatchReceipt:
    """Calls of a leased application after the fact, in batches; kept whole or not at all."""
    await debugger.calls.wait_for_room()
    return await debugger.calls.batches.record(body, debugger.settings.call_max_value_bytes)


@routes.get("/call/rules", flat_errors=True)
async def rules(debugger: Debugger, query: LeaseQuery) -> Lease:
    """What a leased application must ask about before it calls, and where it sees that change."""
    return debugger.calls.leases.renew(query.session_id)


@routes.post("/call/session", flat_errors=True)
async def begin_session(debugger: Debugger, body: ApplicationBody) -> OpenedSession:
    """An application begins to report its calls."""
    application = call_requests.parse_application(call_requests.parse_body(body))
    return await debugger.calls.open_session(application)


@routes.post("/call/session/end", flat_errors=True)
async def end_session(debugger: Debugger, body: EndBody) -> Receipt:
    """An application reports no more calls."""
    session_id = call_requests.parse_text(call_requests.parse_body(body), "session_id")
    sessions = debugger.calls.sessions
    sessions.end(sessions.require(session_id))
    return Receipt()


@routes.post("/call/register", flat_errors=True)
async def register(debugger: Debugger, body: RegistrationBody) -> Receipt:
    """A callable that may be called, or stand in for another; never pauses."""
    registration = call_requests.parse_registration(call_requests.parse_body(body))
    await debugger.calls.recorder.register(registration)
    return Receipt()
