"""Where debuggers inside targets connect to: processes that are attached to, and children."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

from holdfast import errors, timings
from holdfast.targets.program.attach_folder import AttachFolder
from holdfast.targets.program.dap_connection import Connection
from holdfast.targets.program.join_tickets import Handshake, JoinTicket
from holdfast.targets.program.target import Target

Trusted = Callable[[Any, Any], bool]
"""Whether the process at this peer address, of a connection to this local address, is ours."""


class JoinListener:
    """A listener to which debuggers connect. Only processes of the same user with its ticket may.

    A connection is put into `arrived` when it has answered as a debugger does.
    """

    def __init__(
        self, trusted: Trusted, tickets: Path, create_target: Callable[[], Target]
    ) -> None:
        self._trusted = trusted
        self._tickets = tickets
        self._ticket: JoinTicket | None = None
        self._create_target = create_target
        self._server: asyncio.Server | None = None
        self._checks: set[asyncio.Task[None]] = set()
        self.arrived: asyncio.Queue[Target] = asyncio.Queue()
        self.refusal: str | None = None
        self.ticket_path = ""
        """Where a process finds the ticket."""
        self._visited: AttachFolder | None = None
        self.has_visitor = False
        """Somebody has connected who may."""

    @property
    def ticket(self) -> JoinTicket:
        """What a process needs to connect."""
        assert self._ticket is not None
        return self._ticket

    async def open(self, folder: AttachFolder | None = None) -> None:
        """Listen on loopback; or in a directory of a process that does not share that with us."""
        loop = asyncio.get_running_loop()
        if folder is not None:
            listener, path = folder.bind_socket()
            self._server = await loop.create_unix_server(
                lambda: DebuggerConnection(self), sock=listener
            )
            self._visited = folder
            self._ticket = JoinTicket.create(self._tickets, path)
            text = self._ticket.path.read_text()
            self.ticket_path = folder.write_ticket(text)
            folder.hand_over()
            return
        self._server = await loop.create_server(lambda: DebuggerConnection(self), "127.0.0.1", 0)
        address: tuple[str, int] = self._server.sockets[0].getsockname()[:2]
        try:
            self._ticket = JoinTicket.create(self._tickets, address)
            self.ticket_path = str(self._ticket.path)
        except OSError as problem:
            self.close()
            raise errors.NotStored(f"cannot write below {self._tickets}: {problem}") from None

    def begin_handshake(self, transport: asyncio.BaseTransport) -> Handshake | None:
        """The proofs to exchange with a process of the same user; None for another's."""
        if self._server is None:
            return None
        if self._visited is None:
            peer = transport.get_extra_info("peername")
            local = transport.get_extra_info("sockname")
            if not self._trusted(peer, local):
                return None
        elif _read_peer_pid(transport) != self._visited.pid:
            return None
        return Handshake(self.ticket.secret)

    def admit(self, connection: DebuggerConnection) -> bool:
        if self._server is None:
            return False
        self.has_visitor = True
        target = self._create_target()
        connection.replace_connection_of(target)
        check = asyncio.create_task(self._check(target))
        self._checks.add(check)
        check.add_done_callback(self._checks.discard)
        return True

    async def _check(self, target: Target) -> None:
        """Ask for the pid, which only a debugger answers."""
        has_arrived = False
        try:
            facts = await target.connection.request(
                "pydevdSystemInfo", {}, timeout=target.request_timeout
            )
            target.pid = int(facts["process"]["pid"])
            self.arrived.put_nowait(target)
            has_arrived = True
        except (errors.HoldfastError, KeyError, TypeError, ValueError) as problem:
            self.refusal = problem.message if isinstance(problem, errors.Failure) else None
        finally:
            if not has_arrived:
                target.connection.close()

    def close(self) -> None:
        """Admit nobody else, and close the connections that nobody has taken yet."""
        if self._server is not None:
            self._server.close()
            self._server = None
        if self._ticket is not None:
            self._ticket.remove()
        if self._visited is not None:
            self._visited.remove_ticket()
        for check in self._checks:
            check.cancel()
        while not self.arrived.empty():
            self.arrived.get_nowait().connection.close()


def _read_peer_pid(transport: asyncio.BaseTransport) -> int:
    """The process at the other end of a Unix socket, as the kernel knows it."""
    plain = transport.get_extra_info("socket")
    credentials = plain.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    pid: int = struct.unpack("3i", credentials)[0]
    return pid


class DebuggerConnection(Connection):
    """A connection that the other side opened. Once both have proved that they know the listener's
    secret, it becomes that of a target."""

    def __init__(self, join_listener: JoinListener) -> None:
        super().__init__(lambda _name, _body: None, lambda: None)
        self._join_listener = join_listener
        self._handshake: Handshake | None = None
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._handshake = self._join_listener.begin_handshake(transport)
        if self._handshake is None:
            self.close()
            return
        loop = asyncio.get_running_loop()
        self._deadline = loop.call_later(timings.TIMINGS.handshake, self.close)

    def data_received(self, data: bytes) -> None:
        if self._handshake is None:
            super().data_received(data)
            return
        try:
            self._write(self._handshake.feed(data))
        except ValueError:
            self.close()
            return
        if self._handshake.is_proven:
            self._finish_handshake(self._handshake.rest)

    def _finish_handshake(self, rest: bytes) -> None:
        self._handshake = None
        self._cancel_deadline()
        if not self._join_listener.admit(self):
            self.close()
        elif rest:
            super().data_received(rest)

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_deadline()
        super().connection_lost(exc)

    def _cancel_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def replace_connection_of(self, target: Target) -> None:
        unused, target.connection = target.connection, self
        self._on_event, self._on_closed = unused._on_event, unused._on_closed
