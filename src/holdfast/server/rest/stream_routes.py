"""What a program writes and reads, and everything that happens: output, input, events."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated

from starlette.requests import Request
from starlette.responses import StreamingResponse

from holdfast.server.rest.shared import (
    build_options,
    parse_names,
    parse_seconds,
    parse_since,
    parse_types,
)
from holdfast.server.route_table import Media, PeekedProgram, ProgramTarget, RouteList
from holdfast.service.debugger import Debugger
from holdfast.service.waitable import client_disconnected
from holdfast.wire import rest
from holdfast.wire.program_answers import InputAccepted, OutputCleared, OutputPage
from holdfast.wire.program_requests import OUTPUT_TYPES, OutputQuery, SendInput, StreamQuery
from holdfast.wire.session_answers import EventList
from holdfast.wire.session_requests import SessionEventsQuery, StatusQuery

routes = RouteList()
_HEARTBEAT = 15.0
_STREAMED = 256 * 1024
OutputStream = Annotated[
    StreamingResponse,
    Media("text/event-stream", "`stdout`, `stderr`, `log` and `dropped` events, then `end`."),
]


@routes.get("/sessions/{session_id}/output")
async def get_output(session: PeekedProgram, query: OutputQuery) -> OutputPage:
    """What the program wrote after a cursor; with `wait`, waits for something new.

    One answer carries at most about 2 MB: while it says `has_more`, ask again from its cursor.
    """
    kinds = parse_names(query.type, OUTPUT_TYPES, "type")
    since = parse_since(query.since)
    return await session.program.read_output(since, query.limit, kinds, query.wait)


@routes.delete("/sessions/{session_id}/output")
async def clear_output(session: ProgramTarget) -> OutputCleared:
    """Forget what was written so far; cursors stay valid."""
    return session.program.clear_output()


@routes.get("/sessions/{session_id}/output/stream")
async def stream_output(
    session: PeekedProgram, query: StreamQuery, request: Request
) -> OutputStream:
    """Output as server-sent events, from a cursor on, until the program ends."""
    start = parse_since(query.since or request.headers.get("last-event-id"))
    return StreamingResponse(_stream(session, start), media_type="text/event-stream")


async def _stream(session: PeekedProgram, start: int) -> AsyncIterator[bytes]:
    program = session.program
    while not client_disconnected():
        page = program.output.page(start, 1000, max_bytes=_STREAMED)
        if page.dropped:
            yield b"event: dropped\ndata: " + rest.encode({"dropped": page.dropped}) + b"\n\n"
        for entry in page.entries:
            head = f"id: {entry.seq}\nevent: {entry.type}\ndata: ".encode()
            yield head + rest.encode(entry.to_json()) + b"\n\n"
        start = page.cursor
        if page.has_more:
            continue
        if program.over:
            end = {"status": program.state.value, "exit_code": program.exit_code}
            yield b"event: end\ndata: " + rest.encode(end) + b"\n\n"
            return
        if not await program.wait_for_output(start, _HEARTBEAT):
            if program.stopping:
                return
            yield b": still running\n\n"


@routes.post("/sessions/{session_id}/input")
@routes.post("/sessions/{session_id}/stdin")
async def send_input(session: ProgramTarget, query: StatusQuery, body: SendInput) -> InputAccepted:
    """Write to the program's stdin; with `wait`, the answer is what comes of it.

    That is the next stop, the next question, the end, or `running` when time is up."""
    text = body.input if body.input is not None else body.text
    options = build_options(body, query)
    return await session.program.send_input(text, close=body.close, options=options)


@routes.get("/sessions/{session_id}/events")
async def get_events(debugger: Debugger, session_id: str, query: SessionEventsQuery) -> EventList:
    """Everything that happened after a number; with `wait`, waits for the next.

    An agent's events carry their fields in `data`, as its recording has them. `types` names the
    types that are wanted, with commas. One answer carries at most about 2 MB of them: while it says
    `has_more`, ask again from its `last_seq`.
    """
    seconds, types = parse_seconds(query.wait, debugger), parse_types(query.types)
    since = parse_since(query.since)
    return await debugger.events.read_session(session_id, since, query.limit, types, seconds)
