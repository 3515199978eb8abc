"""The service: every session, the ledger of holds, the store, and their orderly end."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from holdfast import errors
from holdfast.core.ledger import Ledger
from holdfast.core.lifecycle import Signal
from holdfast.model.breakpoint import ExceptionFilters
from holdfast.model.config import SessionConfig
from holdfast.model.hold import Hold
from holdfast.model.launch import Attach, Launch
from holdfast.model.records import SessionRecord
from holdfast.model.session import State
from holdfast.service.session import Session
from holdfast.service.settings import Settings
from holdfast.service.sources import Sources
from holdfast.store import Store, open_store
from holdfast.targets.program.attaching import Trusted
from holdfast.targets.program.processes import Tags, Warden

log = logging.getLogger(__name__)
_SWEEP_SECONDS = 1.0


class Service:
    def __init__(self, data_dir: Path, trusted: Trusted) -> None:
        self.data_dir = data_dir
        self.trusted = trusted
        self.store: Store = open_store(data_dir)
        self.settings = Settings()
        self.ledger = Ledger()
        self.sources = Sources()
        self.tags = Tags()
        self.warden = Warden(self.tags.nonce)
        self.warnings: list[dict[str, Any]] = list(self.store.warnings)
        self.adapter_used: str | None = None
        self.stop_requested = asyncio.Event()
        self._sessions: dict[str, Session] = {}
        self._sweeper: asyncio.Task[None] | None = None

    # -- its own life -----------------------------------------------------------------------

    async def start(self) -> None:
        try:
            self.settings = self.settings.changed(self.store.settings())
        except errors.HoldfastError as problem:
            self._warn("SETTINGS_IGNORED", f"stored settings ignored: {problem.message}")
        for record in self.store.sessions():
            self._recover(record)
        await self.warden.start()
        self._sweeper = asyncio.create_task(self._sweep())

    async def close(self) -> None:
        """End every target; keep every configuration."""
        if self._sweeper is not None:
            self._sweeper.cancel()
        await asyncio.gather(*(self._end(each) for each in self._sessions.values()))
        await asyncio.gather(
            *(each.saved() for each in self._sessions.values() if not each.parent_id),
            return_exceptions=True,
        )
        await self.warden.close()
        self.store.close()

    def _warn(self, code: str, message: str, **details: Any) -> None:
        log.warning("%s", message)
        self.warnings.append({"code": code, "message": message, "details": details})

    def _recover(self, record: SessionRecord) -> None:
        """A session of a server that is gone: what it was, ready to be restarted."""
        try:
            session = self._restored(record.id, record.document, record.created_at)
        except (TypeError, ValueError, KeyError, AttributeError, errors.HoldfastError) as problem:
            self._warn("SESSION_IGNORED", f"session {record.id} cannot be restored: {problem}")
            return
        session.recovered = True
        if session.launch is not None or session.attached is not None:
            was = record.document.get("state")
            ended = was in (State.TERMINATED.value, State.FAILED.value)
            session.state = State.TERMINATED
            session.reason = str(record.document.get("reason")) if ended else "server_stopped"
            session.exit_code = record.document.get("exit_code") if ended else None
        self._sessions[session.id] = session

    async def _sweep(self) -> None:
        """End sessions that nobody has asked anything for too long."""
        while True:
            nearest = min((each.seconds_left for each in self._sessions.values()), default=60.0)
            await asyncio.sleep(min(max(nearest, 0.02), _SWEEP_SECONDS))
            for session in list(self._sessions.values()):
                if session.seconds_left <= 0 and not session.expired:
                    await self._expire(session)

    async def _expire(self, session: Session) -> None:
        session.expired = True
        session.event("expired", timeout_minutes=session.timeout_minutes)
        session.ended("timeout", None)
        session.state, session.reason = State.TERMINATED, "timeout"
        await self._end(session)
        await asyncio.wrap_future(self.store.delete_session(session.id))

    # -- sessions ---------------------------------------------------------------------------

    def sessions(self) -> list[Session]:
        return [each for each in self._sessions.values() if not each.expired]

    def session(self, session_id: str, *, touch: bool = True) -> Session:
        session = self._sessions.get(session_id)
        if session is None or (session.expired and touch):
            raise errors.SessionNotFound(
                f"no session {session_id}", id=session_id, session_id=session_id
            )
        if touch:
            session.touch()
        return session

    def last_look(self, session: Session) -> None:
        """An expired session has been read once, saying so: it is gone now."""
        if session.expired:
            self._sessions.pop(session.id, None)

    async def create(self, config: SessionConfig, parent_id: str | None = None) -> Session:
        if len(self._sessions) >= self.settings.max_sessions:
            raise errors.WrongState(
                f"there are {len(self._sessions)} sessions, the most this server keeps",
                hint="Delete sessions that are over, or raise max_sessions with PATCH /config.",
                state="full",
                possible=["delete"],
            )
        session = self._new(f"sess_{secrets.token_hex(5)}", config, parent_id)
        if config.cwd is not None and parent_id is None:
            session.breakpoints.restore(self.store.breakpoints(config.cwd))
        session.event("created", name=config.name)
        if parent_id is None:
            await session.saved()
        return session

    def _new(
        self,
        session_id: str,
        config: SessionConfig,
        parent_id: str | None = None,
        created_at: float | None = None,
    ) -> Session:
        session = Session(
            session_id,
            config,
            settings=lambda: self.settings,
            store=self.store,
            ledger=self.ledger,
            sources=self.sources,
            parent_id=parent_id,
            created_at=created_at,
        )
        if config.cwd is not None:
            session.breakpoints.base = config.cwd
        self._sessions[session_id] = session
        return session

    def unborn(self, parent: Session) -> Session:
        """A session for a child process that has not said who it is."""
        name = parent.config.name or (parent.launch.target if parent.launch else parent.id)
        config = SessionConfig(name=f"{Path(name).name} (child)", cwd=parent.config.cwd)
        session = self._new(f"sess_{secrets.token_hex(5)}", config, parent.id)
        del self._sessions[session.id]
        return session

    def born(self, parent: Session, child: Session) -> None:
        self._sessions[child.id] = child
        parent.children.append(child.id)
        child.event("created", name=child.config.name, parent_id=parent.id)

    def _restored(
        self, session_id: str, document: Mapping[str, Any], created_at: float | None = None
    ) -> Session:
        """A session made of what `exported` gave."""
        config = SessionConfig(**(document.get("config") or {}))
        launch, attach = document.get("launch"), document.get("attach")
        chosen = document.get("exception_breakpoints") or {}
        session = self._new(session_id, config, created_at=created_at)
        try:
            session.launch = Launch(**_tuples(launch)) if launch else None
            session.attached = Attach(**_tuples(attach)) if attach else None
            session.exceptions = ExceptionFilters(**_tuples(chosen))
            session.breakpoints.restore(document.get("breakpoints") or [])
            for expression in document.get("watches") or []:
                session.add_watch(str(expression))
        except BaseException:
            del self._sessions[session_id]
            raise
        return session

    async def import_session(self, document: Mapping[str, Any]) -> Session:
        try:
            session = self._restored(f"sess_{secrets.token_hex(5)}", document)
        except (TypeError, ValueError, KeyError, AttributeError) as problem:
            raise errors.InvalidInput(
                f"not an exported session: {problem}",
                hint="Send what GET /sessions/{id}/export gave.",
            ) from None
        session.event("created", name=session.config.name, imported=True)
        await session.saved()
        return session

    async def clone(self, session: Session, name: str | None) -> Session:
        document = session.exported()
        config = dict(document["config"])
        config["name"] = name or f"{session.config.name or session.id} (copy)"
        return await self.import_session({**document, "config": config})

    async def configure(self, session: Session, changes: Mapping[str, Any]) -> None:
        session.config = dataclasses.replace(session.config, **changes)
        session.output_buffer.limit_bytes = session.output_limit
        if "cwd" in changes:
            session.project = session.config.cwd
            session.breakpoints.base = session.config.cwd or session.breakpoints.base
        session.event("configured", **changes)
        await session.saved()

    async def delete(self, session: Session) -> None:
        self._sessions.pop(session.id, None)
        for child in session.children:
            found = self._sessions.get(child)
            if found is not None:
                await self.delete(found)
        await self._end(session)
        await asyncio.wrap_future(self.store.delete_session(session.id))

    async def _end(self, session: Session) -> None:
        """End its target and every process that it left behind."""
        async with session.busy:
            await session.end()
        if session.parent_id is None:
            session.ended("server_stopped", None, Signal.EXITED)

    # -- the rest ---------------------------------------------------------------------------

    async def configure_server(self, changes: Mapping[str, Any]) -> Settings:
        settings = self.settings.changed(changes)
        await asyncio.wrap_future(self.store.put_settings(dict(changes)))
        self.settings = settings
        for session in self._sessions.values():
            session.output_buffer.limit_bytes = session.output_limit
        return settings

    def wake_all(self) -> None:
        """The server stops: whoever waits gets its answer now."""
        for session in self._sessions.values():
            session.stop_waiting()

    def holds(self) -> list[Hold]:
        return self.ledger.open_holds()


def _tuples(values: Mapping[str, Any]) -> dict[str, Any]:
    """JSON knows lists only; our values are frozen."""
    return {
        key: tuple(tuple(part) if isinstance(part, list) else part for part in each)
        if isinstance(each, list)
        else each
        for key, each in values.items()
    }
