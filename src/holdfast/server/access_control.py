"""Who may come in, and with what.

A debugger runs code for whoever reaches it, so every way in is checked here, once:

- another user of this machine: `CheckedHttpProtocol` asks the kernel who owns the other end, once
  for each connection, before a byte of a request is parsed;
- a web page the user happens to visit: `AccessControl` wants a loopback `Host` (DNS rebinding), no
  foreign `Origin`, and JSON bodies only (a page can send text/plain anywhere without asking);
- another machine: only when the server was told to listen there, and then only with the token.
"""

from __future__ import annotations

import asyncio
import hmac
import os
import re
from dataclasses import dataclass
from typing import cast

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from holdfast.errors import (
    BodyTooLarge,
    HeadTooLarge,
    HoldfastError,
    InvalidInput,
    NotAuthorized,
    NotJson,
    Refused,
)
from holdfast.server import peers
from holdfast.server.error_answers import error_body, status_of
from holdfast.service.waitable import CLIENT_DISCONNECT
from holdfast.wire import rest

Headers = dict[bytes, bytes]
Pairs = list[tuple[bytes, bytes]]

_GONE = "holdfast.gone"

HARDENING: Pairs = [(b"x-content-type-options", b"nosniff"), (b"cache-control", b"no-store")]

LOOPBACK = re.compile(
    r"(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::(?P<port>\d{1,5}))?", re.ASCII | re.IGNORECASE
)


@dataclass(frozen=True)
class Policy:
    """`loopback` says where the server listens; anywhere else a token is not optional."""

    loopback: bool
    token: str | None
    max_body: int

    def __post_init__(self) -> None:
        if not self.loopback and not self.token:
            raise ValueError("a server that is not on loopback needs a token")


def client_disconnected(scope: Scope) -> bool:
    """Whether whoever made this request has hung up."""
    gone: asyncio.Future[None] | None = scope.get(_GONE)
    return gone is not None and gone.done()


def choose_http_protocol(policy: Policy) -> type[HttpToolsProtocol]:
    """What uvicorn should speak: beyond loopback the token decides, not the kernel."""
    return CheckedHttpProtocol if policy.loopback else BoundedHttpProtocol


# -- the connection ------------------------------------------------------------------------------


class BoundedHttpProtocol(HttpToolsProtocol):
    """The head of a request comes before any check can be made: so it is short, and comes soon."""

    max_head = 64 * 1024
    head_seconds = 30.0
    read_seconds = 60.0  # how long a client may leave an answer unread
    linger = 2.0  # seconds a refused client may take to read its answer and hang up
    refused = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.gone = self.loop.create_future()
        self._unread: asyncio.TimerHandle | None = None
        self._head: int | None = 0  # how long it is so far; None while a body comes
        self._patience = self.loop.call_later(self.head_seconds, transport.close)

    def connection_lost(self, exc: Exception | None) -> None:
        self._patience.cancel()
        self.resume_writing()
        if not self.gone.done():
            self.gone.set_result(None)
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Its answers wait in our memory for as long as it does not read them."""
        super().pause_writing()
        if self._unread is None:
            self._unread = self.loop.call_later(self.read_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def data_received(self, data: bytes) -> None:
        if self.refused:
            return
        if self._head is not None:
            self._head += len(data)
        super().data_received(data)
        # Bytes after a head that is whole were counted with it, but then it is whole.
        if self._head is not None and self._head > self.max_head:
            self._turn_away(HeadTooLarge(f"The head is larger than {self.max_head} bytes."))

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope[_GONE] = self.gone  # type: ignore[literal-required]
        self._head = self._head or 0
        self._patience.cancel()
        self._patience = self.loop.call_later(self.head_seconds, self.transport.close)

    def on_headers_complete(self) -> None:
        self._head = None
        self._patience.cancel()
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        self._turn_away(InvalidInput(msg, hint="Speak HTTP/1.1, in plain text.", field="request"))

    def _turn_away(self, error: HoldfastError) -> None:
        if self.refused or self.transport.is_closing():
            return
        self.refused = True
        self._patience.cancel()
        self.transport.write(encode_whole_response(error))
        # Closing at once, with a request still unread, would reset the connection, and the client
        # might never see why. So we only stop writing, drop what it sends, and wait for it to go.
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.timeout_keep_alive_task = self.loop.call_later(
            self.linger, self.timeout_keep_alive_handler
        )


class CheckedHttpProtocol(BoundedHttpProtocol):
    """Lets in connections of the same user (and of root, whom nothing keeps out anyway)."""

    users = frozenset({os.geteuid(), 0})

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        # uvicorn's type allows for a Unix socket, which has no port; we never listen on one.
        local = cast("peers.Address | None", self.server)
        if not may_connect(self.client, local, self.users):
            self._turn_away(Refused("This server is for the user who started it."))


def may_connect(
    peer: peers.Address | None, local: peers.Address | None, users: frozenset[int]
) -> bool:
    if peer is None or local is None or not peers.is_loopback(peer[0]):
        return False
    return peers.owner_uid(peer, local) in users


def encode_whole_response(error: HoldfastError) -> bytes:
    """A complete HTTP response, for when there is no request to answer."""
    body, headers = _encode_error(error)
    headers = [*headers, *HARDENING, (b"connection", b"close")]
    lines = b"".join(name + b": " + value + b"\r\n" for name, value in headers)
    return STATUS_LINE[status_of(error)] + lines + b"\r\n" + body


# -- the request ---------------------------------------------------------------------------------


class AccessControl:
    """ASGI middleware: a request that the policy refuses never reaches the application."""

    def __init__(self, app: ASGIApp, policy: Policy) -> None:
        self.app = app
        self.policy = policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        match scope["type"]:
            case "lifespan":
                await self.app(scope, receive, send)
            case "http":
                await self._request(scope, receive, _harden_responses(send))
            case _:  # nothing here speaks WebSocket, and nothing may get in that way unchecked
                await send({"type": "websocket.close", "code": 1008})

    async def _request(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = join_headers(scope["headers"])
        try:
            check_caller(self.policy, headers)
            receive = await check_body(self.policy, headers, receive, scope["path"])
        except Refused as refusal:
            await _answer(refusal, send)
            return
        CLIENT_DISCONNECT.set(scope.get(_GONE))
        await self.app(scope, receive, send)


def join_headers(pairs: Pairs) -> Headers:
    """Headers by name. Repeated ones are joined: a second Host must not hide behind the first."""
    headers: Headers = {}
    for name, value in pairs:
        headers[name] = headers[name] + b", " + value if name in headers else value
    return headers


def check_caller(policy: Policy, headers: Headers) -> None:
    host = headers.get(b"host", b"").decode("latin-1")
    if policy.loopback and loopback_port(host) is None:
        raise Refused(
            f"The Host {host!r} is not a loopback name.",
            hint="Use localhost, 127.0.0.1 or [::1] in the address.",
            host=host,
        )
    if b"origin" in headers:
        check_origin(policy, headers[b"origin"].decode("latin-1"), host)
    if b"cross-site" in headers.get(b"sec-fetch-site", b""):
        raise Refused(
            "A page of another site made this request.",
            hint="Open the address yourself, in a new tab, or use a program.",
        )
    if not policy.loopback:
        check_token(policy.token or "", headers.get(b"authorization", b""))


def check_origin(policy: Policy, origin: str, host: str) -> None:
    if not is_own_origin(policy, origin, host):
        raise Refused(
            f"A page of {origin!r} made this request, and only our own pages may.",
            hint="Make the request from a program, or open this server's own page.",
            origin=origin,
        )


def is_own_origin(policy: Policy, origin: str, host: str) -> bool:
    scheme, _, authority = origin.partition("://")
    if not policy.loopback:  # perhaps behind a proxy that speaks TLS
        return scheme in ("http", "https") and authority.lower() == host.lower()
    # Our page may use another of our loopback names, but another port is another program.
    port = loopback_port(authority)
    return scheme == "http" and port is not None and port == loopback_port(host)


def check_token(token: str, authorization: bytes) -> None:
    scheme, _, given = authorization.partition(b" ")
    right = hmac.compare_digest(given.strip(), token.encode())
    if scheme.lower() != b"bearer" or not right:
        raise NotAuthorized("The token is missing or wrong.")


def loopback_port(authority: str) -> int | None:
    """The port in `localhost:5000`, or of any loopback name; None for every other name."""
    match = LOOPBACK.fullmatch(authority)
    return int(match["port"] or 80) if match else None


# -- the body ------------------------------------------------------------------------------------


BATCHES = "/call/records"
OCTETS = b"application/octet-stream"


async def check_body(policy: Policy, headers: Headers, receive: Receive, path: str = "") -> Receive:
    """`receive` for a body within the policy. A declared length is judged before it is read."""
    kind = headers.get(b"content-type", b"")
    # No page can send this type elsewhere without asking first, as little as JSON.
    is_json = is_json_type(kind) or (path.endswith(BATCHES) and kind == OCTETS)
    length = headers.get(b"content-length", b"0")
    if b"transfer-encoding" in headers or not length.isdigit():
        return await _read_undeclared(policy, is_json, receive)
    if int(length) > policy.max_body:
        raise _too_large(policy)
    if int(length) and not is_json:
        raise _not_json()
    return receive


def is_json_type(content_type: bytes) -> bool:
    media = content_type.partition(b";")[0].strip().lower()
    return media == b"application/json" or (
        media.startswith(b"application/") and media.endswith(b"+json") and b"," not in media
    )


async def _read_undeclared(policy: Policy, is_json: bool, receive: Receive) -> Receive:
    """A chunked body says its length only by ending, so it is read here and handed on whole."""
    body = bytearray()
    more = True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            return _first(message, receive)
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if body and not is_json:
            raise _not_json()
        if len(body) > policy.max_body:
            raise _too_large(policy)
    return _first({"type": "http.request", "body": bytes(body), "more_body": False}, receive)


def _first(message: Message, receive: Receive) -> Receive:
    """`receive`, with `message` before everything else."""
    waiting = [message]

    async def receive_after() -> Message:
        return waiting.pop() if waiting else await receive()

    return receive_after


def _too_large(policy: Policy) -> BodyTooLarge:
    return BodyTooLarge(
        f"The body is larger than {policy.max_body} bytes.", max_bytes=policy.max_body
    )


def _not_json() -> NotJson:
    return NotJson("The body is not declared as JSON.")


# -- the answer ----------------------------------------------------------------------------------


async def _answer(refusal: Refused, send: Send) -> None:
    """Answers at once. uvicorn drops the rest of the body as it comes: hanging up instead would
    reset the connection, and a client still sending might never see why."""
    body, headers = _encode_error(refusal)
    status = status_of(refusal)
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _encode_error(error: HoldfastError) -> tuple[bytes, Pairs]:
    body = rest.encode(error_body(error))
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
    ]
    if isinstance(error, NotAuthorized):
        headers.append((b"www-authenticate", b"Bearer"))
    return body, headers


def _harden_responses(send: Send) -> Send:
    """`send`, with the headers every answer has, and none that would open it to other origins."""

    async def send_hardened(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": _harden(message.get("headers", []))}
        await send(message)

    return send_hardened


def _harden(headers: Pairs) -> Pairs:
    kept = [pair for pair in headers if not pair[0].lower().startswith(b"access-control-")]
    names = {name.lower() for name, _ in kept}
    return kept + [pair for pair in HARDENING if pair[0] not in names]
