"""Decides which clients may use the server, and which requests it accepts.

A debugger runs code for its clients, so all access is checked here:

- Another user of this machine is refused. `http_protocol` asks the kernel which user owns the
  client's socket, once per connection, before a request is parsed.
- A web page that the user visits is refused. `AccessControl` requires a loopback `Host` (against
  DNS rebinding), refuses a foreign `Origin` and what browsers say comes from another site or port,
  and accepts only JSON bodies, because a page may send text/plain to any site without a CORS
  preflight. Only a link to our own page may be followed from elsewhere.
- Another machine needs the token, and the server must have been started to listen on its network.
- Where there is a token, every request needs it, on this machine too. Our own clients find it in
  `server.json`, which only the user can read. The files of the page need none; what it shows does.
"""

from __future__ import annotations

import asyncio
import hmac
import re
from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from holdfast.errors import (
    BodyTooLarge,
    HoldfastError,
    NotAuthorized,
    NotJson,
    Refused,
)
from holdfast.server.error_answers import error_body, status_of
from holdfast.server.page.page_addresses import is_page_path
from holdfast.service.waitable import CLIENT_DISCONNECT
from holdfast.wire import rest

Headers = dict[bytes, bytes]
Pairs = list[tuple[bytes, bytes]]

# What a request knows of its connection.
DISCONNECT = "holdfast.disconnect"
CONNECTION = "holdfast.connection"

SECURITY_HEADERS: Pairs = [(b"x-content-type-options", b"nosniff"), (b"cache-control", b"no-store")]

# Asked by clients before they show a token. They show that they know a secret instead.
PROOF_PATHS = ("/proof", "/api/v1/proof")

LOOPBACK = re.compile(
    r"(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::(?P<port>\d{1,5}))?", re.ASCII | re.IGNORECASE
)
AUTHORITY = re.compile(r"(?P<host>[\w.-]+|\[[0-9a-f:.]+\])(?::(?P<port>\d{1,5}))?", re.I | re.ASCII)


@dataclass(frozen=True)
class Policy:
    """Who is let in. A server that does not listen on loopback must have a token.

    Where there is one, every request needs it."""

    loopback: bool
    token: str | None
    max_body: int

    def __post_init__(self) -> None:
        if not self.loopback and not self.token:
            raise ValueError("a server that is not on loopback needs a token")


def client_disconnected(scope: Scope) -> bool:
    """Whether the client of this request has disconnected."""
    disconnect: asyncio.Future[None] | None = scope.get(DISCONNECT)
    return disconnect is not None and disconnect.done()


# -- the request ---------------------------------------------------------------------------------


class AccessControl:
    """ASGI middleware that passes on only requests that the policy allows."""

    def __init__(self, app: ASGIApp, policy: Policy) -> None:
        self.app = app
        self.policy = policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        match scope["type"]:
            case "lifespan":
                await self.app(scope, receive, send)
            case "http":
                await self._handle_request(scope, receive, _add_security_headers(send))
            case _:  # WebSockets are not supported, and must not bypass the checks
                await send({"type": "websocket.close", "code": 1008})

    async def _handle_request(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = join_headers(scope["headers"])
        is_page = scope["method"] in ("GET", "HEAD") and is_page_path(scope["path"])
        is_open = scope["path"] in PROOF_PATHS or (is_page and self.policy.token is not None)
        try:
            check_caller(self.policy, headers, needs_token=not is_open, is_page=is_page)
            if CONNECTION in scope and not is_open:
                scope[CONNECTION].prove()
            receive = await check_body(self.policy, headers, receive, scope["path"])
        except Refused as refusal:
            await _send_refusal(refusal, send)
            return
        CLIENT_DISCONNECT.set(scope.get(DISCONNECT))
        await self.app(scope, receive, send)


def join_headers(pairs: Pairs) -> Headers:
    """Headers by name. Repeated ones are joined, so that a second Host is checked too."""
    headers: Headers = {}
    for name, value in pairs:
        headers[name] = headers[name] + b", " + value if name in headers else value
    return headers


def check_caller(
    policy: Policy, headers: Headers, *, needs_token: bool = True, is_page: bool = False
) -> None:
    """Check the host, the origin and the token."""
    host = headers.get(b"host", b"").decode("latin-1")
    if policy.loopback and loopback_port(host) is None:
        raise Refused(
            f"The Host {host!r} is not a loopback name.",
            hint="Use localhost, 127.0.0.1 or [::1] in the address.",
            host=host,
        )
    if b"origin" in headers:
        check_origin(headers[b"origin"].decode("latin-1"), host)
    site = headers.get(b"sec-fetch-site", b"none")
    if site not in (b"same-origin", b"none") and not (is_page and is_navigation(headers)):
        raise Refused(
            "A page of another site or port made this request.",
            hint="Open the address yourself, in a new tab, or use a program.",
        )
    if policy.token is not None and needs_token:
        check_token(policy.token, headers.get(b"authorization", b""))


def is_navigation(headers: Headers) -> bool:
    """Whether somebody followed a link. The answer fills a tab; who linked to it sees nothing."""
    return (
        headers.get(b"sec-fetch-mode") == b"navigate"
        and headers.get(b"sec-fetch-dest") == b"document"
    )


def check_origin(origin: str, host: str) -> None:
    if not is_own_origin(origin, host):
        raise Refused(
            f"A page of {origin!r} made this request, and only our own pages may.",
            hint="Make the request from a program, or open this server's own page.",
            origin=origin,
        )


def is_own_origin(origin: str, host: str) -> bool:
    """Whether scheme, host and port are those of the address that the request was sent to.

    Another loopback address is not enough: a program of another user may listen there."""
    scheme, separator, authority = origin.partition("://")
    own = split_authority(host)
    is_http = scheme.lower() == "http" and bool(separator)
    return is_http and own is not None and split_authority(authority) == own


def split_authority(authority: str) -> tuple[str, int] | None:
    """Host and port of `localhost:5000`; None if that is not what it is."""
    match = AUTHORITY.fullmatch(authority)
    return (match["host"].lower(), int(match["port"] or 80)) if match else None


def check_token(token: str, authorization: bytes) -> None:
    scheme, _, given = authorization.partition(b" ")
    is_equal = hmac.compare_digest(given.strip(), token.encode())
    if scheme.lower() != b"bearer" or not is_equal:
        raise NotAuthorized("The token is missing or wrong.")


def loopback_port(authority: str) -> int | None:
    """The port in `localhost:5000`, or of any loopback name; None for every other name."""
    match = LOOPBACK.fullmatch(authority)
    return int(match["port"] or 80) if match else None


# -- the body ------------------------------------------------------------------------------------


BATCH_PATH = "/call/records"
BATCH_TYPE = b"application/octet-stream"


async def check_body(policy: Policy, headers: Headers, receive: Receive, path: str = "") -> Receive:
    """Check the type and the size of the body. Returns the `receive` to read it with."""
    media_type = headers.get(b"content-type", b"")
    # Like JSON, this type needs a CORS preflight, so a foreign page cannot send it.
    is_batch = path.endswith(BATCH_PATH) and media_type == BATCH_TYPE
    is_allowed = is_json_type(media_type) or is_batch
    length = headers.get(b"content-length", b"0")
    if b"transfer-encoding" in headers or not length.isdigit():
        return await _read_chunked_body(policy, is_allowed, receive)
    if int(length) > policy.max_body:
        raise _build_too_large(policy)
    if int(length) and not is_allowed:
        raise _build_not_json()
    return receive


def is_json_type(content_type: bytes) -> bool:
    media = content_type.partition(b";")[0].strip().lower()
    return media == b"application/json" or (
        media.startswith(b"application/") and media.endswith(b"+json") and b"," not in media
    )


async def _read_chunked_body(policy: Policy, is_allowed: bool, receive: Receive) -> Receive:
    """Read a body without a declared length, and pass it on as one message."""
    body = bytearray()
    more = True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            return _prepend(message, receive)
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if body and not is_allowed:
            raise _build_not_json()
        if len(body) > policy.max_body:
            raise _build_too_large(policy)
    return _prepend({"type": "http.request", "body": bytes(body), "more_body": False}, receive)


def _prepend(message: Message, receive: Receive) -> Receive:
    """A `receive` that returns `message` first."""
    waiting = [message]

    async def receive_after() -> Message:
        return waiting.pop() if waiting else await receive()

    return receive_after


def _build_too_large(policy: Policy) -> BodyTooLarge:
    return BodyTooLarge(
        f"The body is larger than {policy.max_body} bytes.", max_bytes=policy.max_body
    )


def _build_not_json() -> NotJson:
    return NotJson("The body is not declared as JSON.")


# -- the answer ----------------------------------------------------------------------------------


async def _send_refusal(refusal: Refused, send: Send) -> None:
    """Answer at once, and let uvicorn discard the rest of the body.

    Closing would reset the connection, and a client that still sends might not get the answer."""
    body, headers = _encode_error(refusal)
    status = status_of(refusal)
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def encode_whole_response(error: HoldfastError) -> bytes:
    """A complete HTTP response, for a connection without a parsed request."""
    body, headers = _encode_error(error)
    headers = [*headers, *SECURITY_HEADERS, (b"connection", b"close")]
    lines = b"".join(name + b": " + value + b"\r\n" for name, value in headers)
    return STATUS_LINE[status_of(error)] + lines + b"\r\n" + body


def _encode_error(error: HoldfastError) -> tuple[bytes, Pairs]:
    body = rest.encode(error_body(error))
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
    ]
    if isinstance(error, NotAuthorized):
        headers.append((b"www-authenticate", b"Bearer"))
    return body, headers


def _add_security_headers(send: Send) -> Send:
    """A `send` that adds the security headers, and removes those that allow other origins."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": _secure_headers(message.get("headers", []))}
        await send(message)

    return send_with_headers


def _secure_headers(headers: Pairs) -> Pairs:
    kept = [pair for pair in headers if not pair[0].lower().startswith(b"access-control-")]
    names = {name.lower() for name, _ in kept}
    return kept + [pair for pair in SECURITY_HEADERS if pair[0] not in names]
