"""A door: a port on which editors come in, to all sessions or to one."""

from __future__ import annotations

import asyncio
import logging

from holdfast import errors
from holdfast.server.dap.dap_client import EditorClient
from holdfast.server.dap.dap_editors import Editors
from holdfast.server.dap.dap_stream import DapStream
from holdfast.service.debugger import Debugger
from holdfast.service.session import Session

log = logging.getLogger(__name__)
_MAX_CLIENTS = 64


class Door:
    """Without a session it is the lobby: `launch` opens a session, `attach` joins one.

    The door of a session joins what runs there, or starts the program if nothing does. Doors that
    share `editors` know of each other. `token` is what an editor must know, if there is one.
    """

    def __init__(
        self,
        debugger: Debugger,
        session: Session | None = None,
        *,
        editors: Editors | None = None,
        token: str | None = None,
    ) -> None:
        self.session = session
        self.host, self.port = "", 0
        self.editors = editors or Editors(
            debugger, lambda one: Door(debugger, one, editors=self.editors), token
        )
        self._trusted = debugger.programs.trusted
        self._server: asyncio.Server | None = None
        self._clients: dict[_Entrance, EditorClient] = {}

    async def open(self, host: str = "127.0.0.1", port: int = 0) -> int:
        """Listen, on loopback only; the port."""
        loop = asyncio.get_running_loop()
        try:
            self._server = await loop.create_server(lambda: _Entrance(self), host, port)
        except (OSError, OverflowError) as problem:
            why = problem.strerror if isinstance(problem, OSError) else problem
            raise errors.Failure(
                f"cannot listen for editors at {host}:{port}: {why}",
                hint="Choose another --dap-port; 0 takes a free one.",
            ) from None
        self.host, self.port = self._server.sockets[0].getsockname()[:2]
        self.editors.add_door(self)
        return self.port

    async def close(self) -> None:
        """Stop listening, and say good-bye to those who are in."""
        self.editors.remove_door(self)
        if self._server is not None:
            self._server.close()
        for client in list(self._clients.values()):
            client.shut_down()

    def close_listener(self) -> None:
        """Stop listening. Those who are in stay until they go."""
        self.editors.remove_door(self)
        if self._server is not None:
            self._server.close()

    def enter(self, entrance: _Entrance, peer: object, local: object) -> EditorClient | None:
        """Who comes in: only the same user, on this machine."""
        if len(self._clients) >= _MAX_CLIENTS or not self._trusted(peer, local):
            return None
        client = self._clients[entrance] = EditorClient(self.editors, entrance, self.session)
        return client

    @property
    def has_clients(self) -> bool:
        return bool(self._clients)

    def leave(self, entrance: _Entrance) -> None:
        self._clients.pop(entrance, None)


class _Entrance(DapStream):
    """A connection that has been made to a door."""

    def __init__(self, door: Door) -> None:
        super().__init__()
        self._door = door

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        peer = transport.get_extra_info("peername")
        client = self._door.enter(self, peer, transport.get_extra_info("sockname"))
        if client is None:
            self.abort()
        else:
            self.connect(client)

    def connection_lost(self, exc: Exception | None) -> None:
        self._door.leave(self)
        super().connection_lost(exc)
