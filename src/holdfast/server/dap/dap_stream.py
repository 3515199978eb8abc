"""One connection of an editor: bytes in, messages out, and how much of either may pile up."""

from __future__ import annotations

import asyncio
import socket
from typing import Protocol, cast

from holdfast import timings
from holdfast.wire import dap

MAX_MESSAGE_BYTES = 16 * 1024 * 1024
"""Of a message that an editor sends."""
MAX_UNREAD_BYTES = 4 * 1024 * 1024
"""What may wait for an editor to read it. More than this, and its output is left out."""
_MAX_BACKLOG_BYTES = 64 * 1024 * 1024


class MessageReceiver(Protocol):
    """What a stream hands its messages to."""

    def receive(self, message: dap.Message) -> None: ...
    def on_slow(self, is_slow: bool) -> None: ...
    def on_lost(self) -> None: ...


class DapStream(asyncio.Protocol):
    """Reads and writes messages. An editor that sends nonsense, or never reads, is dropped."""

    def __init__(self) -> None:
        self._framer = dap.Framer(MAX_MESSAGE_BYTES, is_strict=True)
        self._transport: asyncio.Transport | None = None
        self._receiver: MessageReceiver | None = None
        self._unread_timer: asyncio.TimerHandle | None = None

    def connect(self, receiver: MessageReceiver) -> None:
        self._receiver = receiver

    # -- asyncio calls these ----------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._transport.set_write_buffer_limits(high=MAX_UNREAD_BYTES)
        plain = transport.get_extra_info("socket")
        if plain is not None and plain.family in (socket.AF_INET, socket.AF_INET6):
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def data_received(self, data: bytes) -> None:
        if self._receiver is None:
            return
        try:
            messages = self._framer.feed(data)
        except dap.FramingError as problem:
            for message in problem.messages:
                self._receiver.receive(message)
            self.close()  # nobody knows where the next message would begin
            self._receiver.on_lost()
            self._receiver = None
            return
        for message in messages:
            self._receiver.receive(message)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        receiver, self._receiver = self._receiver, None
        if receiver is not None:
            receiver.on_lost()

    def pause_writing(self) -> None:
        """The editor does not read. It has some time to begin, because its unread part is ours."""
        loop = asyncio.get_running_loop()
        if self._unread_timer is None:
            self._unread_timer = loop.call_later(timings.TIMINGS.editor_reads, self.abort)
        if self._receiver is not None:
            self._receiver.on_slow(True)

    def resume_writing(self) -> None:
        self._stop_timer()
        if self._receiver is not None:
            self._receiver.on_slow(False)

    def _stop_timer(self) -> None:
        if self._unread_timer is not None:
            self._unread_timer.cancel()
            self._unread_timer = None

    # -- the client calls these -------------------------------------------------------------

    def send(self, message: dap.Message) -> None:
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        transport.write(dap.encode(message))
        if transport.get_write_buffer_size() > _MAX_BACKLOG_BYTES:
            self.abort()

    def pause_reading(self) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.pause_reading()

    def resume_reading(self) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()

    def close(self) -> None:
        """Close it once what was sent is written."""
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()
