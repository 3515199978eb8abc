"""Saves a session, so that a restarted server can restore it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from holdfast import errors
from holdfast.model.records import SessionRecord
from holdfast.service.programs.session_document import Document, export_document
from holdfast.store import PendingWrite

if TYPE_CHECKING:
    from holdfast.service.programs.program_session import ProgramSession


class SessionStorage:
    """What cannot be written is tried again later. Debugging goes on meanwhile."""

    def __init__(self, session: ProgramSession) -> None:
        self._session = session
        self.is_forgotten = False
        """Whether it was deleted: a late request must not save it again."""
        self.is_private = False
        """Whether its breakpoints are its own, and not those of its project."""
        self.unsaved: errors.NotStored | None = None
        self._shared: tuple[str | None, list[Document]] = (None, [])
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def _is_kept(self) -> bool:
        """Whether it is saved. The session of a child process cannot be restored."""
        return not self.is_forgotten and self._session.parent_id is None

    async def save(self) -> None:
        if self._is_kept:
            await self._wait_for(self._write(self._session.project))

    def save_soon(self) -> None:
        """Save its state without waiting for it."""
        if self._is_kept:
            self._run(self._wait_for(self._write(None)))

    def note_shared(self) -> None:
        """Remember that the project has the breakpoints that the session has now."""
        session = self._session
        self._shared = (session.project, session.breakpoints.points.documents())

    def _write(self, project: str | None) -> list[PendingWrite]:
        programs = self._session.programs
        writes = [programs.store.directory.put_session(self._record())]
        if project is not None and not self.is_private:
            before = self._shared[1] if self._shared[0] == project else []
            self._shared = (project, self._session.breakpoints.points.documents())
            shared = programs.projects.change(project, before, self._shared[1])
            writes += filter(None, [shared])
        return writes

    async def _wait_for(self, writes: list[PendingWrite]) -> None:
        try:
            await asyncio.gather(*writes)
        except errors.NotStored as problem:
            if self.unsaved is None:
                self._session.event("not_saved", message=problem.message)
            self.unsaved = problem
        else:
            if self.unsaved is not None:
                self._session.event("saved")
            self.unsaved = None

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _record(self) -> SessionRecord:
        session = self._session
        document = {
            **export_document(session),
            "state": session.state.value,
            "reason": session.reason,
            "exit_code": session.exit_code,
        }
        return SessionRecord(
            session.id, session.kind.value, session.created_at, time.time(), document
        )
