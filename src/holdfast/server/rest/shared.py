"""What the routes share: finding the session, waiting, and the answers about a program's state."""

from __future__ import annotations

import math
from typing import Annotated, Any, cast

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse

from holdfast import errors
from holdfast.model.session import State
from holdfast.service.agents.session import AgentSession
from holdfast.service.calls.call_session import CallSession
from holdfast.service.debugger import Debugger
from holdfast.service.programs import inspection
from holdfast.service.programs.program_session import ProgramSession
from holdfast.service.programs.source_files import stamp_of
from holdfast.service.settings import Settings
from holdfast.wire import rest

Json = dict[str, Any]
INCLUDABLE = ("source", "locals", "stack", "output")
DEFAULT_INCLUDE = ("source", "locals")
_CONTEXT_LINES = 3
_STACK_FRAMES = 20
_END_SECONDS = 5.0
_LOCALS = 200


class Answer(JSONResponse):
    """JSON made by our own encoder."""

    def render(self, content: Any) -> bytes:
        return rest.encode(content)


def router() -> APIRouter:
    return APIRouter(default_response_class=Answer)


def shows(example: Any) -> dict[int | str, dict[str, Any]]:
    """The example of a route's answer, for the OpenAPI document."""
    return {200: {"content": {"application/json": {"example": example}}}}


# They are `async` though they never wait: FastAPI sends plain functions to a thread.


async def the_service(request: Request) -> Debugger:
    return cast(Debugger, request.app.state.service)


async def the_session(session_id: str, request: Request) -> ProgramSession:
    """For operations: they count as activity."""
    return (await the_service(request)).session(session_id)


async def a_look(session_id: str, request: Request) -> ProgramSession:
    """For reads that say how the session is: they do not keep it alive."""
    return (await the_service(request)).session(session_id, touch=False)


async def of_any_kind(
    session_id: str, request: Request
) -> ProgramSession | CallSession | AgentSession:
    """For what sessions of calls and of agents have too."""
    return (await the_service(request)).any_session(session_id, touch=True)


async def steered(session_id: str, request: Request) -> ProgramSession | AgentSession:
    """For what is done to programs and to agents."""
    return (await the_service(request)).steered(session_id)


async def steered_seen(session_id: str, request: Request) -> ProgramSession | AgentSession:
    """For reads, of the same."""
    return (await the_service(request)).steered(session_id, touch=False)


ServiceHere = Annotated[Debugger, Depends(the_service)]
SessionHere = Annotated[ProgramSession, Depends(the_session)]
SessionSeen = Annotated[ProgramSession, Depends(a_look)]
AnySession = Annotated[ProgramSession | CallSession | AgentSession, Depends(of_any_kind)]
Steered = Annotated[ProgramSession | AgentSession, Depends(steered)]
SteeredSeen = Annotated[ProgramSession | AgentSession, Depends(steered_seen)]


# -- waiting --------------------------------------------------------------------------------------


def seconds(given: Any, session: ProgramSession, default: float) -> float:
    """How long to wait: what the request says, in words or in numbers."""
    return patience_of(given, session.settings, default)


def patience_of(given: Any, settings: Settings, default: float) -> float:
    if given is None:
        return default
    most = settings.max_wait
    if isinstance(given, bool):
        return most if given else 0.0
    if isinstance(given, str):
        lowered = given.strip().lower()
        if lowered in ("true", "yes"):
            return most
        if lowered in ("false", "no"):
            return 0.0
        given = lowered
    try:
        wanted = float(given)
    except (TypeError, ValueError):
        raise _bad_wait(given) from None
    if not math.isfinite(wanted) or wanted < 0:
        raise _bad_wait(given)
    return min(wanted, most)


def _bad_wait(given: Any) -> errors.InvalidInput:
    return errors.InvalidInput(
        f"wait must be true, false or a number of seconds, not {given!r}", field="wait"
    )


def chosen(given: list[str] | str | None) -> tuple[str, ...]:
    """What a paused answer is to carry."""
    if given is None:
        return DEFAULT_INCLUDE
    names = [n.strip() for n in given.split(",")] if isinstance(given, str) else list(given)
    names = [name for name in names if name]
    unknown = [name for name in names if name not in INCLUDABLE]
    if unknown:
        raise errors.InvalidInput(
            f"cannot include {', '.join(unknown)}",
            hint=f"include takes: {', '.join(INCLUDABLE)}.",
            field="include",
        )
    return tuple(names)


# -- how a session is -----------------------------------------------------------------------------


def state_of(session: ProgramSession) -> Json:
    """Status, and what belongs to it, without asking the target anything."""
    shown: Json = {"session_id": session.id, "status": session.state.value}
    stop = session.stop
    if session.state is State.PAUSED and stop is not None:
        shown.update(rest.stopped(stop))
        shown["hold_id"] = session.hold.id if session.hold else None
        changed = _changed_source(session, stop.location.file if stop.location else None)
        if changed:
            shown["warnings"] = [changed]
    elif session.state is State.WAITING_FOR_INPUT:
        shown["prompt"] = session.output_buffer.prompt
    elif session.over:
        shown.update(reason=session.reason, exit_code=session.exit_code)
        if session.error is not None:
            shown["error_details"] = session.error
    return shown


def _changed_source(session: ProgramSession, file: str | None) -> str | None:
    before = session.loaded.get(file) if file else None
    if before is None or file is None or stamp_of(file) == before:
        return None
    return f"{file} has changed since it was loaded; lines refer to the code that runs."


async def status(session: ProgramSession, include: tuple[str, ...] = ()) -> Json:
    """Status with the threads at a stop, and whatever more is asked for."""
    try:
        return await _status(session, include)
    except errors.SessionCrashed:
        # It died while it was looked at: that is its status, and known in a moment.
        await session.wait_until(lambda: session.over, _END_SECONDS)
    except (errors.WrongState, errors.NotFound):
        pass  # somebody let it run on meanwhile
    return state_of(session)


async def _status(session: ProgramSession, include: tuple[str, ...]) -> Json:
    shown = state_of(session)
    stop = session.stop
    if session.state is State.PAUSED and stop is not None:
        if len(stop.threads) > 1:
            shown.update(rest.threads_now(await inspection.threads(session)))
        else:
            shown.update(rest.threads_at_stop(stop))
    shown.update(await extras(session, include))
    return shown


async def extras(session: ProgramSession, include: tuple[str, ...]) -> Json:
    shown: Json = {}
    stop = session.stop
    if "output" in include:
        written = session.output_buffer.page(session.output_mark, 1000).entries
        shown["output"] = [rest.output(e.type, e.text, e.at, e.seq, e.place) for e in written]
    if session.state is not State.PAUSED or stop is None:
        return shown
    if "source" in include:
        shown["source"] = _source(session)
    if "locals" in include:
        page = await inspection.frame_variables(session, 0, count=_LOCALS)
        shown["locals"] = page.items
        if page.has_more:
            shown["locals_total"] = page.total
    if "stack" in include:
        page_of_stack = await inspection.stack(session, None, 0, _STACK_FRAMES)
        shown["stack"] = [rest.frame(each) for each in page_of_stack.frames]
        shown["stack_total"] = page_of_stack.total
    return shown


def _source(session: ProgramSession) -> Json | None:
    """The line that is about to run, with a few around it."""
    place = session.stop.location if session.stop else None
    source = session.sources.get(place.file) if place else None
    if place is None or source is None:
        return None
    first = max(1, place.line - _CONTEXT_LINES)
    last = min(len(source.text), place.line + _CONTEXT_LINES)
    return {
        "file": place.file,
        "line": place.line,
        "text": source.line(place.line),
        "context": [{"line": n, "text": source.text[n - 1]} for n in range(first, last + 1)],
    }


async def after(session: ProgramSession, wait: float, include: tuple[str, ...]) -> Json:
    """The answer to a request that made a program run: its next stop, or that it runs."""
    if wait > 0:
        await session.settled(wait)
        return await status(session, include)
    # Not asked to wait: it was set running, whatever has become of it meanwhile.
    if session.state in (State.PAUSED, State.WAITING_FOR_INPUT):
        return {"session_id": session.id, "status": State.RUNNING.value}
    return state_of(session)
