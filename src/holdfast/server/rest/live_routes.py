"""Everything as it happens: one stream over all sessions, for pages that show them live."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from typing import Annotated

from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from holdfast.server.rest.shared import parse_names, parse_types
from holdfast.server.route_table import Media, RouteList
from holdfast.service.debugger import Debugger
from holdfast.service.live_stream import LiveFilter, LiveMessage
from holdfast.service.session_registry import KINDS
from holdfast.wire import rest
from holdfast.wire.live_messages import LiveChanges, LiveEvents, LiveHello
from holdfast.wire.session_requests import LiveQuery

routes = RouteList("/api")
_HEADERS = {"cache-control": "no-store", "x-accel-buffering": "no"}
_RETRY = b"retry: 1000\n\n"


class LiveResponse(StreamingResponse):
    """Ends what it streams from as soon as nobody reads it any more."""

    def __init__(self, messages: AsyncIterator[LiveMessage]) -> None:
        self._chunks = _encode(messages)
        super().__init__(self._chunks, media_type="text/event-stream", headers=_HEADERS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self._chunks.aclose()


LiveAnswer = Annotated[
    LiveResponse,
    Media(
        "text/event-stream",
        "`hello` (LiveHello), then `events` (LiveEvents) and `changes` (LiveChanges).",
        (LiveHello, LiveEvents, LiveChanges),
    ),
]


@routes.get("/stream")
async def stream_everything(debugger: Debugger, query: LiveQuery, request: Request) -> LiveAnswer:
    """What happens in all sessions from now on, or after a cursor, as server-sent events.

    `hello` says where the stream begins. `events` has events of all sessions in the order in which
    the server heard of them, gathered for about 20 ms, at most 2,000 at once. `changes` says how
    far those sessions are that have changed, and which are gone, at most four times a second. The
    `id` of a message is the cursor behind it: with `cursor`, or `Last-Event-ID`, which wins, the
    stream goes on without a gap. The server knows which were the latest 50,000 events since it
    started; `missed` says that there were more, or that the cursor is another server's. A stream
    that goes on from another server's cursor begins now.
    """
    wanted = LiveFilter(
        parse_types(query.types), query.session, parse_names(query.kind, KINDS, "kind")
    )
    cursor = request.headers.get("last-event-id") or query.cursor
    return LiveResponse(debugger.live.follow(cursor, wanted))


async def _encode(messages: AsyncIterator[LiveMessage]) -> AsyncGenerator[bytes, None]:
    yield _RETRY
    async for message in messages:
        head = b"id: %s\n" % message.cursor.encode()
        if message.body is None:
            yield head + b": still here\n\n"
        else:
            head += b"event: %s\ndata: " % message.name.encode()
            yield head + rest.encode(message.body) + b"\n\n"
