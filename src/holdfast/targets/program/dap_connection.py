"""A DAP connection to the debugger inside a target."""

from __future__ import annotations

import asyncio
import itertools
import socket
from collections.abc import Callable
from typing import Any, cast

from holdfast import errors
from holdfast.wire import dap

_QUICKACK = getattr(socket, "TCP_QUICKACK", None)

# The errors that users see, by the kind of problem that the probe reports.
_PROBLEMS: dict[str, type[errors.HoldfastError]] = {
    "thread": errors.ThreadNotFound,
    "frame": errors.FrameNotFound,
    "reference": errors.ReferenceNotFound,
    "source": errors.SourceNotFound,
    "resumed": errors.ThreadNotHeld,
    "raised": errors.EvaluationFailed,
    "interrupted": errors.TimedOut,
    "assign": errors.AssignmentFailed,
    "exception": errors.NoException,
}


Reply = asyncio.Future[dap.Response]


class ConnectionClosed(Exception):
    """The connection ended before the answer came."""


class Connection(asyncio.Protocol):
    """Sends requests and receives answers and events. Only `request` and `operate` wait."""

    def __init__(
        self,
        on_event: Callable[[str, dap.Body], None],
        on_closed: Callable[[], None],
    ) -> None:
        self._on_event = on_event
        self._on_closed = on_closed
        self._framer = dap.Framer()
        self._numbers = itertools.count(1)
        self._pending: dict[int, Reply] = {}
        self._transport: asyncio.Transport | None = None
        self._tcp: socket.socket | None = None
        self._batch: list[bytes] | None = None
        self.closed = False

    # -- asyncio calls these ----------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        plain = transport.get_extra_info("socket")
        if plain is not None and plain.family in (socket.AF_INET, socket.AF_INET6):
            self._tcp = plain
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._acknowledge_at_once()

    def data_received(self, data: bytes) -> None:
        self._acknowledge_at_once()
        try:
            messages = self._framer.feed(data)
        except dap.FramingError:
            self.close()
            return
        for message in messages:
            self._receive(message)

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed = True
        for future in self._pending.values():
            if not future.done():
                future.set_exception(ConnectionClosed())
                future.exception()  # marks it as seen: perhaps nobody waits for it
        self._pending.clear()
        self._on_closed()

    def _acknowledge_at_once(self) -> None:
        # pydevd sends header and body apart. With delayed acknowledgement each pair costs 40 ms.
        if self._tcp is not None and _QUICKACK is not None:
            try:
                self._tcp.setsockopt(socket.IPPROTO_TCP, _QUICKACK, 1)
            except OSError:
                pass

    def _receive(self, message: dap.Message) -> None:
        if message.get("type") == "response":
            future = self._pending.pop(message.get("request_seq", 0), None)
            if future is not None and not future.done():
                future.set_result(cast(dap.Response, message))
        elif message.get("type") == "event":
            body = message.get("body")
            self._on_event(str(message.get("event")), body if isinstance(body, dict) else {})

    # -- the target calls these -------------------------------------------------------------

    def post(self, command: str, arguments: dap.Body | None = None) -> Reply:
        """Send a request. The future gives its whole response."""
        future: Reply = asyncio.get_running_loop().create_future()
        if self.closed or self._transport is None:
            future.set_exception(ConnectionClosed())
            future.exception()
            return future
        number = next(self._numbers)
        message: dap.Message = {"seq": number, "type": "request", "command": command}
        if arguments is not None:
            message["arguments"] = arguments
        self._pending[number] = future
        self._write(dap.encode(message))
        return future

    def _write(self, data: bytes) -> None:
        if self._batch is not None:
            self._batch.append(data)
        elif self._transport is not None:
            self._transport.write(data)

    def hold_back(self) -> None:
        """Collect what is posted from now on, until `release`."""
        self._batch = []

    def release(self) -> None:
        """Send what was collected in one write."""
        batch, self._batch = self._batch, None
        if batch and self._transport is not None and not self.closed:
            self._transport.write(b"".join(batch))

    async def request(
        self, command: str, arguments: dap.Body | None = None, *, timeout: float
    ) -> dap.Body:
        """Send a request and wait for its body. Raise a HoldfastError if it is refused."""
        future = self.post(command, arguments)
        operation = (arguments or {}).get("op", command)
        try:
            response = await asyncio.wait_for(future, timeout)
        except asyncio.TimeoutError:
            raise errors.TimedOut(
                f"the debugger did not answer {operation!r} within {timeout:g} s",
                hint="C code in the program may hold the interpreter. GET /threads says where it "
                "is, from outside. Retry, or terminate the session.",
                operation=operation,
                timeout=timeout,
            ) from None
        except ConnectionClosed:
            raise errors.SessionCrashed(
                f"the target ended during {operation!r}", operation=operation
            ) from None
        return body_of(response, operation)

    def operate(self, op: str, timeout: float, **arguments: Any) -> Any:
        return self.request("holdfast", {"op": op, **arguments}, timeout=timeout)

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()


def body_of(response: dap.Response, operation: str) -> dap.Body:
    """Return the body of a response. Raise a HoldfastError if the request was refused."""
    body = response.get("body")
    body = body if isinstance(body, dict) else {}
    if response.get("success"):
        return body
    message = str(response.get("message") or f"{operation} was refused")
    details = body.get("details") or {}
    kind = _PROBLEMS.get(str(body.get("kind")), errors.Failure)
    if kind is errors.TimedOut:
        raise kind(message, operation=operation)
    raise kind(message, **details)
