"""The HTTP connection: who its client is, and how much, how slowly and how often it may send.

The limits hold before a request can be checked, so they are here and not in `access_control`. One
deadline covers a whole request, from its first byte to the last of its body and trailers.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from typing import Any, cast

from starlette.types import Scope
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from holdfast import timings
from holdfast.errors import (
    HeadTooLarge,
    HoldfastError,
    InvalidInput,
    Overloaded,
    Refused,
    RequestTooSlow,
)
from holdfast.server import peers
from holdfast.server.access_control import (
    CONNECTION,
    DISCONNECT,
    SECURITY_HEADERS,
    Policy,
    encode_whole_response,
)
from holdfast.server.connection_limits import ConnectionLimits

log = logging.getLogger(__name__)
_JSON_HEAD = b"".join(
    (
        *(b"%s: %s\r\n" % pair for pair in SECURITY_HEADERS),
        b"content-type: application/json\r\ncontent-length: %d\r\n\r\n",
    )
)
_LOG_SECONDS = 60.0
_last_logged = -_LOG_SECONDS


def choose_http_protocol(policy: Policy) -> type[HttpToolsProtocol]:
    """The protocol class for uvicorn. Beyond loopback, the token is checked and not the user."""
    return CheckedHttpProtocol if policy.loopback else BoundedHttpProtocol


class BoundedHttpProtocol(HttpToolsProtocol):
    """HTTP with limits: the size and the time of a request, and the time to read its answer."""

    max_head_bytes = 64 * 1024
    """Of a head; also of what comes between two parts of a body, and of trailers."""
    refused = False

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.limits: ConnectionLimits = vars(self.server_state).setdefault(
            "connection_limits", ConnectionLimits()
        )

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.disconnected = self.loop.create_future()
        self._unread_timer: asyncio.TimerHandle | None = None
        self._unknown_timer: asyncio.TimerHandle | None = None
        self._head_bytes: int | None = 0  # received so far; None while a body is received
        self._bytes_between = 0  # received since the last part of the body
        self._began = self.loop.time()
        self._late_timer: asyncio.TimerHandle | None = self.loop.call_later(
            timings.TIMINGS.request_head, self._on_late
        )
        self._enter()

    def _enter(self) -> None:
        self.limits.note_unknown(self)
        self._unknown_timer = self.loop.call_later(
            timings.TIMINGS.unknown_client, self.transport.close
        )
        self._take_place()

    def prove(self) -> None:
        """The client has shown that it may use the server."""
        self.limits.note_known(self)
        if self._unknown_timer is not None:
            self._unknown_timer.cancel()
            self._unknown_timer = None

    def _take_place(self) -> None:
        if self.limits.add(self, self._get_descriptor()):
            self.limits.note_idle(self)
        else:
            self._refuse(Overloaded("The server has too many connections."))

    def _get_descriptor(self) -> int:
        sock = self.transport.get_extra_info("socket")
        return 0 if sock is None else int(sock.fileno())

    def drop(self) -> None:
        """Make room for another connection."""
        self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self.limits.remove(self)
        self._stop_clock()
        if self._unknown_timer is not None:
            self._unknown_timer.cancel()
        self.resume_writing()
        if not self.disconnected.done():
            self.disconnected.set_result(None)
        super().connection_lost(exc)

    # -- answers ----------------------------------------------------------------------------

    def pause_writing(self) -> None:
        """Start a timer, because the client does not read and its answers fill our memory."""
        super().pause_writing()
        if self._unread_timer is None:
            self._unread_timer = self.loop.call_later(
                timings.TIMINGS.answer_read, self.transport.abort
            )

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._unread_timer is not None:
            self._unread_timer.cancel()
            self._unread_timer = None

    def answer_at_once(self, scope: Scope, status: int, body: bytes) -> bool:
        """Write a whole answer in JSON with one system call.

        False if it has to be sent in parts, because something about the connection is unusual.
        """
        cycle = self.cycle
        is_usual = cycle.scope is scope and cycle.keep_alive and not cycle.response_started
        if not is_usual or cycle.disconnected or self.flow.write_paused:
            return False
        cycle.response_started = cycle.response_complete = True
        cycle.waiting_for_100_continue = False
        lines = [b"%s: %s\r\n" % pair for pair in cycle.default_headers]
        self.transport.write(b"".join((STATUS_LINE[status], *lines, _JSON_HEAD % len(body), body)))
        cycle.message_event.set()
        cycle.on_response()
        return True

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self._is_busy():
            self.limits.note_idle(self)
            if self._head_bytes is not None and self._late_timer is not None:
                self._start_clock()  # the next request began while this one was answered

    # -- requests ---------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        if self.refused:
            return
        if self._late_timer is None and not self._is_busy():
            self._start_clock()  # a request need not begin with what comes: empty lines may
        if self._head_bytes is not None:
            self._head_bytes += len(data)
        else:
            self._bytes_between += len(data)
        super().data_received(data)
        # A complete head has set the count to None, so a body in the same data is not counted.
        too_many = max(self._head_bytes or 0, self._bytes_between)
        if too_many > self.max_head_bytes and not self.transport.is_closing():
            self._refuse(HeadTooLarge(f"The head is larger than {self.max_head_bytes} bytes."))

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope[DISCONNECT] = self.disconnected  # type: ignore[literal-required]
        self.scope[CONNECTION] = self  # type: ignore[literal-required]
        self._head_bytes = self._head_bytes or 0
        if self._late_timer is None:
            self._start_clock()

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._head_bytes is not None:  # a trailer says nothing that we need
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._head_bytes, self._bytes_between = None, 0
        self._limit_time(self._began + timings.TIMINGS.whole_request - self.loop.time())
        self.limits.note_busy(self)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._bytes_between = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._stop_clock()
        self._head_bytes = self._bytes_between = 0
        super().on_message_complete()

    def _is_busy(self) -> bool:
        """Whether a request is being answered."""
        return self.cycle is not None and not self.cycle.response_complete

    # -- the deadline -----------------------------------------------------------------------

    def _start_clock(self) -> None:
        self._began = self.loop.time()
        self._limit_time(timings.TIMINGS.request_head)

    def _limit_time(self, seconds: float) -> None:
        self._stop_clock()
        self._late_timer = self.loop.call_later(seconds, self._on_late)

    def _stop_clock(self) -> None:
        if self._late_timer is not None:
            self._late_timer.cancel()
            self._late_timer = None

    def _on_late(self) -> None:
        """The request did not arrive in time."""
        is_next = self._head_bytes is not None and self._is_busy()
        if is_next or self.flow.read_paused:
            self._start_clock()  # we are not reading, or still answer the request before it
        elif self._head_bytes is None and self.cycle.response_started:
            self.transport.close()  # it was refused already, and the rest of it has no end
        else:
            self._refuse(RequestTooSlow("The request did not arrive in time."))

    # -- refusals ---------------------------------------------------------------------------

    def send_400_response(self, msg: str) -> None:
        self._refuse(InvalidInput(msg, hint="Speak HTTP/1.1, in plain text.", field="request"))

    def _refuse(self, error: HoldfastError) -> None:
        if self.refused or self.transport.is_closing():
            return
        self.refused = True
        self._stop_clock()
        self.transport.write(encode_whole_response(error))
        # Closing while a request is unread would reset the connection, and the client might not
        # get this answer. So we only stop writing, ignore what it sends, and let it close.
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self._unset_keepalive_if_required()
        self.timeout_keep_alive_task = self.loop.call_later(
            timings.TIMINGS.refusal_read, self.timeout_keep_alive_handler
        )
        self.limits.note_refused(self)


class CheckedHttpProtocol(BoundedHttpProtocol):
    """Accepts connections of the same user, and of root, who could read our memory anyway.

    A client that cannot be checked is refused: it may be anybody."""

    users = frozenset({os.geteuid(), 0})

    def _enter(self) -> None:
        # uvicorn's type allows for a Unix socket, which has no port; we never listen on one.
        local = cast("peers.Address | None", self.server)
        try:
            may_enter = may_connect(self.client, local, self.users)
        except Exception as problem:  # such as no descriptor to ask the kernel with
            _log_unchecked(problem)
            self._refuse(Overloaded("The server cannot find out now which user you are."))
            return
        if may_enter:
            self._take_place()
        else:
            self._refuse(Refused("This server is for the user who started it."))


def may_connect(
    peer: peers.Address | None, local: peers.Address | None, users: frozenset[int]
) -> bool:
    """Whether the client is on this machine and belongs to one of the users."""
    if peer is None or local is None or not peers.is_loopback(peer[0]):
        return False
    return peers.find_owner(peer, local) in users


def _log_unchecked(problem: Exception) -> None:
    """Write it to the log, but not for each of many connections."""
    global _last_logged
    now = time.monotonic()
    if now - _last_logged >= _LOG_SECONDS:
        _last_logged = now
        log.error("clients are refused, because they cannot be checked: %r", problem)
