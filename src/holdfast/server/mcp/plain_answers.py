"""Answers a request with a plain JSON body, where a stream would add nothing.

The SDK prepares an event stream for every request, which costs a step some tenths of a
millisecond. A stream is there for progress, and only a request that has a token for it gets any.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from contextvars import ContextVar
from typing import cast

from mcp.server.streamable_http import REQUEST_CANCELLED
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.types import Message, Receive, Scope, Send

_PROGRESS_TOKEN = b'"progressToken"'
_SESSION_HEADER, _VERSION_HEADER = b"mcp-session-id", b"mcp-protocol-version"
_VERSIONS = tuple(version.encode() for version in HANDSHAKE_PROTOCOL_VERSIONS)
_CANCELLED = f'"code":{REQUEST_CANCELLED},'.encode()
_is_plain: ContextVar[bool] = ContextVar("holdfast_mcp_plain_answer", default=False)


class _PerRequest:
    """Stands for the SDK's setting `json_response`: true while a plain answer is wanted."""

    def __bool__(self) -> bool:
        return _is_plain.get()


class PlainAnswers:
    """The SDK's manager, which `build` makes with the setting that it is given."""

    def __init__(self, build: Callable[[bool], StreamableHTTPSessionManager]) -> None:
        self._manager = build(cast(bool, _PerRequest()))

    def run(self) -> AbstractAsyncContextManager[None]:
        return self._manager.run()

    async def asgi_app(self, scope: Scope, receive: Receive, send: Send) -> None:
        if _may_be_plain(scope):
            messages = await _read_body(receive)
            receive = _replay(messages, receive)
            if _PROGRESS_TOKEN not in b"".join(one.get("body", b"") for one in messages):
                await self._answer_plainly(scope, receive, send)
                return
        await self._manager.asgi_app(scope, receive, send)

    async def _answer_plainly(self, scope: Scope, receive: Receive, send: Send) -> None:
        token = _is_plain.set(True)
        try:
            await self._manager.asgi_app(scope, receive, _stream_cancellation(send))
        finally:
            _is_plain.reset(token)


def _may_be_plain(scope: Scope) -> bool:
    """Not the request that opens a session: the task of the session inherits what is set here."""
    headers = dict(scope["headers"])
    is_stateless = headers.get(_VERSION_HEADER, _VERSIONS[0]) not in _VERSIONS
    return scope["method"] == "POST" and (is_stateless or _SESSION_HEADER in headers)


async def _read_body(receive: Receive) -> list[Message]:
    messages = [await receive()]
    while messages[-1].get("more_body"):
        messages.append(await receive())
    return messages


def _replay(messages: list[Message], receive: Receive) -> Receive:
    """What was received already, then what comes."""
    rest = iter(messages)

    async def receive_next() -> Message:
        message = next(rest, None)
        return message if message is not None else await receive()

    return receive_next


def _stream_cancellation(send: Send) -> Send:
    """Send the answer to a request that was cancelled as an event, as the SDK does by itself.

    The SDK's client fails if it leaves while such an answer comes as a plain body."""
    started: list[Message] = []

    async def send_next(message: Message) -> None:
        if message["type"] == "http.response.start":
            started.append(message)
            return
        if started:
            if _CANCELLED in message["body"]:
                message["body"] = b"event: message\r\ndata: " + message["body"] + b"\r\n\r\n"
                started[0]["headers"] = [
                    (name, value)
                    for name, value in started[0]["headers"]
                    if name not in (b"content-type", b"content-length")
                ] + [(b"content-type", b"text/event-stream")]
            await send(started.pop())
        await send(message)

    return send_next
