"""The doors for editors, as the service knows them: one face opens them, others name them."""

from __future__ import annotations

from typing import Protocol

from holdfast.service.session import Session


class EditorDoors(Protocol):
    @property
    def lobby_port(self) -> int:
        """The port at which an editor gets to all sessions."""

    @property
    def has_editors(self) -> bool:
        """Whether an editor is connected."""

    async def open_session_door(self, session: Session) -> tuple[str, int]:
        """Where an editor gets to this session only; the same address each time."""
