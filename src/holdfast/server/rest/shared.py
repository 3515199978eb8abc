"""What the routes share: the debugger, the session, and how answers become JSON."""

from __future__ import annotations

from typing import Annotated, Any, cast

import msgspec
from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import JSONResponse

from holdfast.service.debugger import Debugger
from holdfast.service.programs.program_session import ProgramSession
from holdfast.service.run_options import RunOptions, parse_wait
from holdfast.service.session import Session
from holdfast.wire import rest

Json = dict[str, Any]


_encode = msgspec.json.Encoder().encode


def encode_answer(answer: Any) -> bytes:
    """JSON as bytes; text that is not valid Unicode is escaped rather than refused."""
    try:
        return _encode(answer)
    except (TypeError, ValueError):
        return rest.encode(msgspec.to_builtins(answer, enc_hook=str))


class Answer(JSONResponse):
    """JSON of typed answers, and of plain values."""

    def render(self, content: Any) -> bytes:
        return encode_answer(content)


def render(answer: Any, status: int = 200) -> Response:
    return Response(encode_answer(answer), status, media_type="application/json")


def router() -> APIRouter:
    return APIRouter(default_response_class=Answer)


def shows(example: Any) -> dict[int | str, dict[str, Any]]:
    """The example of a route's answer, for the OpenAPI document."""
    return {200: {"content": {"application/json": {"example": example}}}}


# They are `async` though they never wait: FastAPI sends plain functions to a thread.


async def the_service(request: Request) -> Debugger:
    return cast(Debugger, request.app.state.service)


async def the_session(session_id: str, request: Request) -> Session:
    """For operations: they count as activity."""
    return (await the_service(request)).sessions.get(session_id)


async def peek_session(session_id: str, request: Request) -> Session:
    """For reads that say how the session is: they do not keep it alive."""
    return (await the_service(request)).sessions.peek(session_id)


async def the_program(session_id: str, request: Request) -> ProgramSession:
    return (await the_session(session_id, request)).program


async def peek_program(session_id: str, request: Request) -> ProgramSession:
    return (await peek_session(session_id, request)).program


ServiceHere = Annotated[Debugger, Depends(the_service)]
SessionHere = Annotated[Session, Depends(the_session)]
SessionSeen = Annotated[Session, Depends(peek_session)]
ProgramHere = Annotated[ProgramSession, Depends(the_program)]
ProgramSeen = Annotated[ProgramSession, Depends(peek_program)]


def seconds_of(wait: Any, service: Debugger) -> float:
    return parse_wait(wait, service.settings.max_wait)


def options_of(body: Any, wait: Any = None, include: Any = None, thread: Any = None) -> RunOptions:
    """What a request says about waiting: in its body, else in its query."""
    said = {name: getattr(body, name, None) for name in ("by", "wait", "include", "thread_id")}
    return RunOptions(
        by=said["by"] or "rest",
        wait=wait if said["wait"] is None else said["wait"],
        include=include if said["include"] is None else said["include"],
        thread_id=said["thread_id"] if thread is None else thread,
    )
