"""What a program writes and reads, and everything that happens: output, input, events."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import Header, Query
from fastapi.responses import StreamingResponse

from holdfast import errors
from holdfast.server.rest import bodies
from holdfast.server.rest.shared import (
    Answer,
    ProgramHere,
    ProgramSeen,
    ServiceHere,
    router,
    seconds_of,
    shows,
)
from holdfast.service.programs.program_session import ProgramSession
from holdfast.service.waitable import client_disconnected
from holdfast.wire import rest

routes = router()
_HEARTBEAT = 15.0
_STREAMED = 256 * 1024
_OUTPUT = {
    "outputs": [
        {"type": "stdout", "text": "Hello\n", "timestamp": "2026-01-13T10:00:00Z", "seq": 1}
    ],
    "cursor": "1",
    "has_more": False,
    "dropped": 0,
}


def cursor_of(given: str | None) -> int:
    if given is None or given == "":
        return 0
    if not given.isdecimal():
        raise errors.InvalidInput(
            f"{given!r} is not a cursor", hint="Use the cursor of an earlier answer.", field="since"
        )
    return int(given)


@routes.get("/sessions/{session_id}/output", responses=shows(_OUTPUT))
async def get_output(
    session: ProgramSeen,
    since: str | None = None,
    limit: Annotated[int, Query(ge=1, le=100_000)] = 1000,
    type: Annotated[str | None, Query(description="stdout, stderr, log")] = None,  # noqa: A002
    wait: str | None = None,
) -> Answer:
    """What the program wrote after a cursor; with `wait`, waits for something new.

    One answer carries at most about 2 MB: while it says `has_more`, ask again from its cursor.
    """
    kinds = frozenset(type.split(",")) if type else None
    return Answer(await session.read_output(cursor_of(since), limit, kinds, wait))


@routes.delete("/sessions/{session_id}/output", responses=shows({"cleared": True}))
async def clear_output(session: ProgramHere) -> Answer:
    """Forget what was written so far; cursors stay valid."""
    return Answer(session.clear_output())


@routes.get(
    "/sessions/{session_id}/output/stream",
    responses={
        200: {
            "content": {
                "text/event-stream": {
                    "example": 'id: 1\nevent: stdout\ndata: {"type":"stdout","text":"Hello\\n"}\n\n'
                }
            }
        }
    },
    response_class=StreamingResponse,
)
async def stream_output(
    session: ProgramSeen,
    since: str | None = None,
    last_event_id: Annotated[str | None, Header()] = None,
) -> StreamingResponse:
    """Output as server-sent events, from a cursor on, until the program ends."""
    start = cursor_of(since or last_event_id)
    return StreamingResponse(_events(session, start), media_type="text/event-stream")


async def _events(session: ProgramSession, start: int) -> AsyncIterator[bytes]:
    while not client_disconnected():
        page = session.output.page(start, 1000, max_bytes=_STREAMED)
        if page.dropped:
            yield b"event: dropped\ndata: " + rest.encode({"dropped": page.dropped}) + b"\n\n"
        for entry in page.entries:
            head = f"id: {entry.seq}\nevent: {entry.type}\ndata: ".encode()
            yield head + rest.encode(entry.to_json()) + b"\n\n"
        start = page.cursor
        if page.has_more:
            continue
        if session.over:
            end = {"status": session.state.value, "exit_code": session.exit_code}
            yield b"event: end\ndata: " + rest.encode(end) + b"\n\n"
            return
        if not await session.wait_for_output(start, _HEARTBEAT):
            if session.stopping:
                return
            yield b": still running\n\n"


@routes.post("/sessions/{session_id}/input", responses=shows({"accepted": True, "bytes": 14}))
@routes.post("/sessions/{session_id}/stdin", responses=shows({"accepted": True, "bytes": 14}))
async def send_input(session: ProgramHere, body: bodies.Input) -> Answer:
    """Write to the program's stdin."""
    text = body.input if body.input is not None else body.text
    return Answer(session.send_input(text, close=body.close))


_EVENTS = {
    "events": [
        {"seq": 4, "event": "stopped", "reason": "breakpoint", "timestamp": "2026-01-13T10:00:00Z"}
    ],
    "last_seq": 4,
}


@routes.get("/sessions/{session_id}/events", responses=shows(_EVENTS))
async def get_events(
    service: ServiceHere,
    session_id: str,
    since: str | None = None,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 1000,
    wait: str | None = None,
    types: str | None = None,
) -> Answer:
    """Everything that happened after a number; with `wait`, waits for the next.

    An agent's events carry their fields in `data`, as its recording has them. `types` names the
    types that are wanted, with commas. One answer carries at most about 2 MB of them: while it says
    `has_more`, ask again from its `last_seq`.
    """
    seconds, names = seconds_of(wait, service), types_of(types)
    page = await service.events.of_session(session_id, cursor_of(since), limit, names, seconds)
    return Answer(page)


def types_of(given: str | None) -> frozenset[str] | None:
    """The types of events that a request names."""
    names = frozenset(name.strip() for name in (given or "").split(",")) - {""}
    return names or None
