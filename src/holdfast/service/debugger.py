"""The service: every session, the ledger of holds, the store, and their orderly end."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import logging
import os
import secrets
import sys
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
from holdfast.model.session import Kind, State
from holdfast.recording.layout import agents_dir
from holdfast.service.agents.following import Following
from holdfast.service.agents.session import AgentSession
from holdfast.service.calls.call_service import Calls
from holdfast.service.calls.call_session import CallSession
from holdfast.service.event_stream import EventStream
from holdfast.service.programs.program_session import ProgramSession
from holdfast.service.programs.project_breakpoints import ProjectBreakpoints
from holdfast.service.programs.source_files import SourceFiles
from holdfast.service.settings import Settings
from holdfast.store import Store, open_store
from holdfast.targets.program import launching
from holdfast.targets.program.attaching import Trusted
from holdfast.targets.program.connection import body_of
from holdfast.targets.program.pool import Pool
from holdfast.targets.program.processes import Tags, Warden
from holdfast.targets.program.target import Target

log = logging.getLogger(__name__)
_SWEEP_SECONDS = 1.0
_EXPIRED_KEPT = 1000


class Debugger:
    def __init__(self, data_dir: Path, trusted: Trusted, pool_size: int | None = None) -> None:
        self.data_dir = data_dir
        self.trusted = trusted
        self.store: Store = open_store(data_dir)
        self.settings = Settings()
        self.projects = ProjectBreakpoints(self.store)
        self.ledger = Ledger()
        self.stream = EventStream()
        self.calls = Calls(self.store, self.ledger, self.stream, lambda: self.settings, data_dir)
        self.agents = Following(agents_dir(data_dir), self.ledger, self.stream)
        self.sources = SourceFiles()
        self.tags = Tags()
        self.warden = Warden(self.tags.nonce)
        self._pool_size = pool_size
        self.pool = Pool(self._warm, self._unwatch, 0)
        self._warnings: list[dict[str, Any]] = []
        self.adapter_used: str | None = None
        self.stop_requested = asyncio.Event()
        self._sessions: dict[str, ProgramSession] = {}
        self._undeleted: set[str] = set()
        self._sweeper: asyncio.Task[None] | None = None

    # -- its own life -----------------------------------------------------------------------

    async def start(self) -> None:
        try:
            self.settings = self.settings.changed(self.store.settings())
        except errors.HoldfastError as problem:
            self._warn("SETTINGS_IGNORED", f"stored settings ignored: {problem.message}")
        for wrong in self.calls.start_up():
            self._warn("BREAKPOINT_IGNORED", f"stored call breakpoint ignored: {wrong.message}")
        for record in self.store.sessions():
            if record.kind == Kind.CALLS.value:
                self.calls.recover(record)
            else:
                self._recover(record)
        await self.agents.start()
        if self.agents.problem:
            self._warn("AGENTS_NOT_FOLLOWED", self.agents.problem)
        await self.warden.start()
        size = self.settings.pool_size if self._pool_size is None else self._pool_size
        self.pool = Pool(self._warm, self._unwatch, size)
        self.pool.fill(sys.executable)
        self._sweeper = asyncio.create_task(self._sweep())

    async def close(self) -> None:
        """End every target; keep every configuration."""
        if self._sweeper is not None:
            self._sweeper.cancel()
        self.calls.close()
        self.agents.close()
        await self.pool.close()
        await self.end_targets()
        await asyncio.gather(*(each.saved() for each in self._sessions.values()))
        await self._catch_up()
        await self.warden.close()
        self.store.close()

    async def end_targets(self) -> None:
        """End every target, and every start that is under way; none can be started after it."""
        ends = [self._end(each, "server_stopped") for each in self._sessions.values()]
        for problem in await asyncio.gather(*ends, return_exceptions=True):
            if isinstance(problem, BaseException):
                log.error("a session did not end in order: %r", problem)

    async def _warm(self, python: str) -> Target:
        """A waiting interpreter; it dies with us like any target."""
        target = await launching.arm(python, cwd="/", env=dict(os.environ), tag=self.tags.new())
        self.warden.watch(target.process_of_ours().pid)
        assert target.hello is not None
        try:
            hello = await asyncio.wait_for(target.hello, self.settings.launch_timeout)
            target.introduce(body_of(hello, "hello"))
        except BaseException:
            await target.kill()
            self._unwatch(target)
            raise
        return target

    def _unwatch(self, target: Target) -> None:
        """It has ended: its number may come to mean another process."""
        self.warden.forget(target.process_of_ours().pid)

    @property
    def warnings(self) -> list[dict[str, Any]]:
        """What went wrong and was worked around: here, and in the store."""
        return [*self.store.warnings, *self._warnings, *self._behind()]

    def _behind(self) -> list[dict[str, Any]]:
        """What is so and is not on disk, while that is the case."""
        unsaved = [each for each in self._sessions.values() if each.unsaved is not None]
        if not (unsaved or self.projects.unsaved or self._undeleted):
            return []
        why = next((each.unsaved.message for each in unsaved if each.unsaved), "")
        message = f"Not everything could be written; it is tried again every second. {why}"
        details = {
            "sessions": [each.id for each in unsaved],
            "projects": sorted(self.projects.unsaved.copy()),
            "deleted_sessions": sorted(self._undeleted),
        }
        return [{"code": "STORE_BEHIND", "message": message.rstrip(), "details": details}]

    @property
    def behind(self) -> bool:
        return bool(self._behind())

    def _warn(self, code: str, message: str, **details: Any) -> None:
        log.warning("%s", message)
        self._warnings.append({"code": code, "message": message, "details": details})

    def _recover(self, record: SessionRecord) -> None:
        """A session of a server that is gone: what it was, ready to be restarted."""
        try:
            session = self._restored(record.id, record.document, record.created_at)
        except (TypeError, ValueError, KeyError, AttributeError, errors.HoldfastError) as problem:
            self._warn("SESSION_IGNORED", f"session {record.id} cannot be restored: {problem}")
            return
        session.recovered = True
        session.shared = (session.project, session.breakpoints.documents())
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
            nearest = min((each.seconds_left for each in self.sessions()), default=60.0)
            await asyncio.sleep(min(max(nearest, 0.02), _SWEEP_SECONDS))
            idle = [each for each in self.sessions() if each.seconds_left <= 0]
            for ended in await asyncio.gather(*map(self._expire, idle), return_exceptions=True):
                if isinstance(ended, BaseException):
                    log.error("an idle session could not be ended", exc_info=ended)
            self._forget_expired()
            await self._catch_up()

    async def _catch_up(self) -> None:
        """Write what the disk did not take before."""
        for session in list(self._sessions.values()):
            if session.unsaved is not None:
                await session.saved()
        self.projects.try_again()
        for session_id in list(self._undeleted):
            await self._erase(session_id)

    async def _erase(self, session_id: str) -> None:
        """Its processes have ended whatever the disk says; it must not come back either."""
        self._undeleted.add(session_id)
        with contextlib.suppress(errors.NotStored):
            await asyncio.wrap_future(self.store.delete_session(session_id))
            self._undeleted.discard(session_id)

    def _forget_expired(self) -> None:
        """They wait to be read once more; not all of them for ever."""
        waiting = [each.id for each in self._sessions.values() if each.expired]
        for session_id in waiting[:-_EXPIRED_KEPT]:
            del self._sessions[session_id]

    async def _expire(self, session: ProgramSession) -> None:
        session.expired = session.forgotten = True
        session.event("expired", timeout_minutes=session.timeout_minutes)
        session.ended("timeout", None)
        session.state, session.reason = State.TERMINATED, "timeout"
        await self._end(session, "timeout")
        await self._erase(session.id)

    # -- sessions ---------------------------------------------------------------------------

    def sessions(self) -> list[ProgramSession]:
        return [each for each in self._sessions.values() if not each.expired]

    def session(self, session_id: str, *, touch: bool = True) -> ProgramSession:
        session = self._sessions.get(session_id)
        if session is None:
            other = self.calls.sessions.get(session_id) or self.agents.sessions.get(session_id)
            if other is not None:
                raise _not_a_program(other)
        if session is None or (session.expired and touch):
            raise errors.SessionNotFound(
                f"no session {session_id}", id=session_id, session_id=session_id
            )
        if touch:
            session.touch()
        return session

    def every_session(self) -> list[ProgramSession | CallSession | AgentSession]:
        """Sessions of every kind, oldest first."""
        every: list[ProgramSession | CallSession | AgentSession] = [*self.sessions()]
        every += [*self.calls.sessions.values(), *self.agents.sessions.values()]
        return sorted(every, key=lambda each: each.created_at)

    def any_session(
        self, session_id: str, *, touch: bool = False
    ) -> ProgramSession | CallSession | AgentSession:
        """A session of any kind, for what all kinds have."""
        found = self.calls.sessions.get(session_id) or self.agents.sessions.get(session_id)
        return self.session(session_id, touch=touch) if found is None else found

    def steered(self, session_id: str, *, touch: bool = True) -> ProgramSession | AgentSession:
        """A session that can be paused and continued as a whole: a program, or an agent."""
        found = self.agents.sessions.get(session_id)
        return self.session(session_id, touch=touch) if found is None else found

    def last_look(self, session: ProgramSession) -> None:
        """An expired session has been read once, saying so: it is gone now."""
        if session.expired:
            self._sessions.pop(session.id, None)

    def _check_room(self) -> None:
        count = len(self.sessions())
        if count >= self.settings.max_sessions:
            raise errors.WrongState(
                f"there are {count} sessions, the most this server keeps",
                hint="Delete sessions that are over, or raise max_sessions with PATCH /config.",
                state="full",
                possible=["delete"],
            )

    async def create(self, config: SessionConfig, parent_id: str | None = None) -> ProgramSession:
        self._check_room()
        session = self._new(f"sess_{secrets.token_hex(5)}", config, parent_id)
        if config.cwd is not None and parent_id is None:
            session.breakpoints.restore(self.projects.breakpoints(config.cwd))
            session.shared = (config.cwd, session.breakpoints.documents())
        session.event("created", name=config.name)
        await self._kept(session)
        return session

    async def _kept(self, session: ProgramSession) -> None:
        """A new session is on disk, or it is not there at all."""
        await session.saved()
        if session.unsaved is not None:
            problem = session.unsaved
            await self.delete(session)
            raise problem

    def _new(
        self,
        session_id: str,
        config: SessionConfig,
        parent_id: str | None = None,
        created_at: float | None = None,
    ) -> ProgramSession:
        session = ProgramSession(
            session_id,
            config,
            settings=lambda: self.settings,
            store=self.store,
            projects=self.projects,
            ledger=self.ledger,
            sources=self.sources,
            stream=self.stream,
            parent_id=parent_id,
            created_at=created_at,
        )
        if config.cwd is not None:
            session.breakpoints.base = config.cwd
        self._sessions[session_id] = session
        return session

    def born(self, parent: ProgramSession) -> ProgramSession:
        """A session for a child process, with its parent's breakpoints and settings."""
        self._check_room()
        name = parent.config.name or (parent.launch.target if parent.launch else parent.id)
        config = dataclasses.replace(parent.config, name=f"{Path(name).name} (child)")
        child = self._new(f"sess_{secrets.token_hex(5)}", config, parent.id)
        child.breakpoints.restore(parent.breakpoints.documents())
        child.exceptions = parent.effective_exceptions
        parent.children.append(child.id)
        child.event("created", name=config.name, parent_id=parent.id)
        return child

    def _restored(
        self,
        session_id: str,
        document: Mapping[str, Any],
        created_at: float | None = None,
        *,
        strict: bool = False,
    ) -> ProgramSession:
        """A session made of what `exported` gave."""
        config = _config(document.get("config") or {})
        launch, attach = document.get("launch"), document.get("attach")
        chosen = document.get("exception_breakpoints") or {}
        session = self._new(session_id, config, created_at=created_at)
        try:
            session.launch = Launch(**_tuples(launch)) if launch else None
            session.attached = Attach(**_tuples(attach)) if attach else None
            session.exceptions = ExceptionFilters(**_tuples(chosen))
            session.breakpoints.restore(document.get("breakpoints") or [], strict=strict)
            for expression in document.get("watches") or []:
                session.add_watch(str(expression))
        except BaseException:
            del self._sessions[session_id]
            raise
        return session

    async def import_session(self, document: Mapping[str, Any]) -> ProgramSession:
        self._check_room()
        try:
            session = self._restored(f"sess_{secrets.token_hex(5)}", document, strict=True)
        except (TypeError, ValueError, KeyError, AttributeError) as problem:
            raise errors.InvalidInput(
                f"not an exported session: {problem}",
                hint="Send what GET /sessions/{id}/export gave.",
            ) from None
        session.event("created", name=session.config.name, imported=True)
        await self._kept(session)
        return session

    async def clone(self, session: ProgramSession, name: str | None) -> ProgramSession:
        document = session.exported()
        config = dict(document["config"])
        config["name"] = name or f"{session.config.name or session.id} (copy)"
        return await self.import_session({**document, "config": config})

    async def configure(self, session: ProgramSession, changes: Mapping[str, Any]) -> None:
        session.config = dataclasses.replace(session.config, **changes)
        session.output_buffer.limit_bytes = session.output_limit
        if "cwd" in changes:
            session.project = session.config.cwd
            session.breakpoints.base = session.config.cwd or session.breakpoints.base
        session.event("configured", **changes)
        await session.saved()

    async def delete(self, session: ProgramSession) -> None:
        session.forgotten = True
        self._sessions.pop(session.id, None)
        await self._end(session, "deleted")
        await self.delete_children(session)
        await self._erase(session.id)

    async def delete_children(self, session: ProgramSession) -> None:
        """After its own end, so that it does not see them go, nor starts another."""
        children, session.children = session.children, []
        for child in children:
            found = self._sessions.get(child)
            if found is not None:
                await self.delete(found)

    async def _end(self, session: ProgramSession, reason: str) -> None:
        """For good: end its target, every process that it left behind, and any start under way."""
        session.closed = True
        if not session.over:
            session.end_reason = session.end_reason or reason
        session.cut_short(reason)
        async with session.busy:
            await session.end()
        if session.parent_id is None:
            session.ended(reason, None, Signal.EXITED)

    # -- the rest ---------------------------------------------------------------------------

    async def configure_server(self, changes: Mapping[str, Any]) -> Settings:
        settings = self.settings.changed(changes)
        await asyncio.wrap_future(self.store.put_settings(dict(changes)))
        self.settings = settings
        self.calls.settings_changed()
        for session in self._sessions.values():
            session.output_buffer.limit_bytes = session.output_limit
        return settings

    def wake_all(self) -> None:
        """The server stops: whoever waits gets its answer now."""
        for session in self._sessions.values():
            session.stop_waiting()
        self.calls.stop_waiting()
        self.agents.stop_waiting()
        self.stream.stop_waiting()

    def children_of(self, session: ProgramSession) -> list[ProgramSession]:
        return [self._sessions[each] for each in session.children if each in self._sessions]

    def holds(self) -> list[Hold]:
        return self.ledger.open_holds()


def _not_a_program(session: CallSession | AgentSession) -> errors.WrongState:
    if isinstance(session, AgentSession):
        return errors.WrongState(
            f"session {session.id} is of kind {session.kind.value}: it has no program to look into",
            hint="GET its /state, POST its /command, /pause, /continue or /step-over; what it "
            "holds is at GET /api/holds.",
            session_id=session.id,
            kind=session.kind.value,
            state=session.state.value,
            possible=["events", "delete"]
            if session.over
            else ["state", "command", "pause", "continue", "step-over", "events"],
        )
    return errors.WrongState(
        f"session {session.id} is of kind {session.kind.value}: it has no program to steer",
        hint="Its calls are at GET /api/calls?session=…, what it holds at GET /api/holds.",
        session_id=session.id,
        kind=session.kind.value,
        state=session.state.value,
        possible=["evaluate", "events", "delete"],
    )


def _config(stored: Mapping[str, Any]) -> SessionConfig:
    config = SessionConfig(**stored)
    numbers = (config.timeout_minutes, config.output_limit_bytes, config.evaluate_timeout)
    if not all(value is None or isinstance(value, int | float) for value in numbers):
        raise TypeError(f"not a session's configuration: {stored}")
    return config


def _tuples(values: Mapping[str, Any]) -> dict[str, Any]:
    """JSON knows lists only; our values are frozen."""
    return {
        key: tuple(tuple(part) if isinstance(part, list) else part for part in each)
        if isinstance(each, list)
        else each
        for key, each in values.items()
    }
