"""The editors of a server: who shares which session, and the doors that they come through."""

from __future__ import annotations

import asyncio
import hmac
import itertools
import logging
import os
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from holdfast import errors, timings
from holdfast.model.records import EventRecord
from holdfast.server.dap import dap_joining
from holdfast.server.dap.dap_numbers import Numbers
from holdfast.server.dap.dap_requests import CAUSE
from holdfast.service.debugger import Debugger
from holdfast.service.session import Session
from holdfast.service.session_observer import SessionObserver

if TYPE_CHECKING:
    from holdfast.server.dap.dap_client import EditorClient
    from holdfast.server.dap.dap_door import Door

log = logging.getLogger(__name__)
_PROGRAM = "program"
"""Who the program itself is, in events that say who did something."""
_LOOPBACK = ("127.0.0.1", "localhost", "::1", "0.0.0.0")
_DONE_BY_USERS = frozenset(
    {
        *("continued", "pause_requested", "variable_set", "input_given", "launching"),
        *("breakpoint_set", "breakpoint_changed", "breakpoint_removed"),
    }
)


class _SharedSession(SessionObserver):
    """A session that editors are connected to, and whether others use it as well."""

    def __init__(self, session: Session) -> None:
        self.clients: list[EditorClient] = []
        self.is_used_otherwise = False
        self.is_launcher_gone = False
        """Whether the editor that launched the program has left it to the others."""
        self._keep_alive = session.program.idle.hold()
        self._stop = session.program.observe(self)

    def on_event(self, event: EventRecord) -> None:
        """What no editor caused comes from the HTTP API, the command line, or a controller."""
        if event.type in _DONE_BY_USERS and CAUSE.get() is None:
            self.is_used_otherwise = event.body.get("by") != _PROGRAM or self.is_used_otherwise

    def close(self) -> None:
        self._keep_alive()
        self._stop()


class _DoorCloser(SessionObserver):
    def __init__(self, door: Door) -> None:
        self._door = door

    def on_closed(self) -> None:
        self._door.close_listener()


class Editors:
    """`create_door` makes the door of a session. `token` is what an editor must know, if the
    server has one.
    """

    def __init__(
        self,
        debugger: Debugger,
        create_door: Callable[[Session], Door],
        token: str | None = None,
    ) -> None:
        self.debugger = debugger
        self._create_door = create_door
        self._token = token
        self.breakpoint_numbers = Numbers[str]("breakpoint")
        """An editor knows breakpoints by number. Those in our ids are too large for JavaScript."""
        self._numbers = itertools.count(1)
        self._shared: dict[str, _SharedSession] = {}
        self._doors: list[Door] = []
        self._tasks: set[asyncio.Task[None]] = set()

    def take_number(self) -> int:
        return next(self._numbers)

    def check_token(self, given: str | None) -> None:
        token = self._token
        if token is not None and not hmac.compare_digest(token.encode(), (given or "").encode()):
            raise errors.NotAuthorized(
                "this server wants a token",
                hint='Give it as "token" in the configuration of your editor.',
            )

    @property
    def credentials(self) -> dict[str, str]:
        """What an editor that is in needs to come in once more."""
        return {} if self._token is None else {"token": self._token}

    @staticmethod
    def has_file(path: str) -> bool:
        return os.path.isfile(path)

    # -- doors ------------------------------------------------------------------------------

    def add_door(self, door: Door) -> None:
        self._doors.append(door)

    def remove_door(self, door: Door) -> None:
        if door in self._doors:
            self._doors.remove(door)

    def find_door(self, address: tuple[str, int] | None) -> Door | None:
        """The door of ours at an address that an editor was told to connect to."""
        if address is None or address[0] not in _LOOPBACK:
            return None
        return next((door for door in self._doors if door.port == address[1]), None)

    async def open_session_door(self, session: Session) -> tuple[str, int]:
        """Where an editor gets to this session only. It is closed with the session."""
        known = next((door for door in self._doors if door.session is session), None)
        if known is None:
            known = self._create_door(session)
            await known.open()
            session.program.observe(_DoorCloser(known))
        return known.host, known.port

    @property
    def lobby_port(self) -> int:
        return next((door.port for door in self._doors if door.session is None), 0)

    @property
    def has_editors(self) -> bool:
        return any(door.has_clients for door in self._doors)

    # -- who shares what --------------------------------------------------------------------

    def add(self, client: EditorClient, session: Session) -> None:
        if session.id not in self._shared:
            self._shared[session.id] = _SharedSession(session)
        self._shared[session.id].clients.append(client)

    def remove(self, client: EditorClient, session: Session) -> None:
        shared = self._shared.get(session.id)
        if shared is None or client not in shared.clients:
            return
        shared.clients.remove(client)
        if not shared.clients:
            shared.close()
            del self._shared[session.id]

    def list_others(self, client: EditorClient, session: Session) -> list[EditorClient]:
        shared = self._shared.get(session.id)
        return [other for other in shared.clients if other is not client] if shared else []

    def is_shared(self, client: EditorClient, session: Session) -> bool:
        """Whether another editor, or somebody by another way, uses the session."""
        shared = self._shared.get(session.id)
        used = shared is not None and shared.is_used_otherwise
        return used or bool(self.list_others(client, session))

    def note_launcher_gone(self, session: Session) -> None:
        shared = self._shared.get(session.id)
        if shared is not None:
            shared.is_launcher_gone = True

    def is_launcher_gone(self, session: Session) -> bool:
        shared = self._shared.get(session.id)
        return shared is not None and shared.is_launcher_gone

    def invalidate(self, client: EditorClient) -> None:
        """An editor ran code in the program: what the others show may be out of date."""
        for other in self.list_others(client, client.joined):
            if other.teller is not None:
                other.teller.tell_invalidated()

    # -- tasks ------------------------------------------------------------------------------

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Run something that outlives the connection that it began with."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finish)

    def _finish(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.error("an editor's request failed", exc_info=task.exception())

    def on_lost(self, client: EditorClient) -> None:
        """A connection is gone. Unless it said good-bye, that counts as one now."""
        if not client.is_leaving:
            client.is_leaving = True
            self.run(dap_joining.leave(client, None))

    async def close(self) -> None:
        for door in list(self._doors):
            await door.close()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=timings.TIMINGS.editors_leave)
