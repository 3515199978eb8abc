"""The program sessions: opens, restores, expires and ends them, and holds what they share."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from holdfast import errors
from holdfast.core.ledger import Ledger
from holdfast.core.lifecycle import Signal
from holdfast.model.config import SessionConfig
from holdfast.model.launch import Preparation, Start
from holdfast.model.records import SessionRecord
from holdfast.model.session_state import State
from holdfast.service.event_stream import EventStream
from holdfast.service.new_ids import new_id
from holdfast.service.programs.breakpoint_profiles import BreakpointProfiles
from holdfast.service.programs.launch_history import LaunchHistory
from holdfast.service.programs.program_join import invite_process
from holdfast.service.programs.program_session import ProgramSession
from holdfast.service.programs.project_breakpoints import ProjectBreakpoints
from holdfast.service.programs.project_directory import resolve_directory, resolve_settings
from holdfast.service.programs.session_choice import choose_session
from holdfast.service.programs.session_document import apply_document, export_document, parse_config
from holdfast.service.programs.source_files import SourceFiles
from holdfast.service.run_options import NOTHING, RunOptions, parse_include, parse_wait
from holdfast.service.settings import Settings
from holdfast.store import Store
from holdfast.targets.program import launcher
from holdfast.targets.program.interpreter_pool import Pool
from holdfast.targets.program.join_listener import Trusted
from holdfast.targets.program.join_tickets import remove_left_tickets
from holdfast.targets.program.process_spawner import Spawn, Warden, spawn
from holdfast.targets.program.process_tags import Tags
from holdfast.targets.program.python_processes import python_processes
from holdfast.targets.program.target import Target
from holdfast.wire.program_answers import JoinInvitation, ProgramDetail
from holdfast.wire.server_answers import ProcessList, ServerWarning

log = logging.getLogger(__name__)
_SWEEP_SECONDS = 1.0
_SHOWN_BYTES = 4096
_MAX_EXPIRED = 1000


class Programs:
    def __init__(
        self,
        store: Store,
        ledger: Ledger,
        stream: EventStream,
        settings: Callable[[], Settings],
        trusted: Trusted,
        tickets: Path,
        pool_size: int | None = None,
        signals: int | None = None,
        spawn: Spawn = spawn,
    ) -> None:
        self.store = store
        self.ledger = ledger
        self.stream = stream
        self.trusted = trusted
        self.tickets = tickets
        """The directory of the tickets with which processes join a session."""
        self.projects = ProjectBreakpoints(store.directory)
        self.profiles = BreakpointProfiles(store.directory)
        self.launches = LaunchHistory(store.directory, self._is_there)
        self.sources = SourceFiles()
        self.tags = Tags()
        self.spawn = spawn
        """How the processes of programs are started."""
        self.warden = Warden(self.tags.nonce, signals, spawn)
        self.pool = Pool(self._start_warm_interpreter, self._unwatch, 0)
        self.fallback_reason: str | None = None
        """Why a program was last started through the stock adapter."""
        self._settings = settings
        self._pool_size = pool_size
        self._sessions: dict[str, ProgramSession] = {}
        self._undeleted: set[str] = set()
        self._is_unsaved_logged = False
        self._sweeper: asyncio.Task[None] | None = None
        self.admissions: set[asyncio.Task[None]] = set()
        """Sessions that wait for a process to join them."""

    @property
    def settings(self) -> Settings:
        return self._settings()

    # -- its own life -----------------------------------------------------------------------

    async def start(self) -> None:
        remove_left_tickets(self.tickets)
        await self.warden.start()
        size = self.settings.pool_size if self._pool_size is None else self._pool_size
        self.pool = Pool(self._start_warm_interpreter, self._unwatch, size)
        self.pool.fill(sys.executable)
        self._sweeper = asyncio.create_task(self._sweep())

    def stop_sweeping(self) -> None:
        if self._sweeper is not None:
            self._sweeper.cancel()

    async def close(self) -> None:
        """End every target; keep every configuration."""
        await self.pool.close()
        await self.end_targets()
        await asyncio.gather(*(session.storage.save() for session in self._sessions.values()))
        await self._retry_writes()
        await self.warden.close()

    async def end_targets(self) -> None:
        """End every target, and every start that is under way; none can be started after it."""
        ends = [self._end(session, "server_stopped") for session in self._sessions.values()]
        for problem in await asyncio.gather(*ends, return_exceptions=True):
            if isinstance(problem, BaseException):
                log.error("a session did not end in order: %r", problem)

    async def _start_warm_interpreter(self, python: str) -> Target:
        """Start an interpreter that waits for a program. It ends with the server, as targets do."""
        target = await launcher.arm(
            python,
            cwd="/",
            env=dict(os.environ),
            tag=self.tags.new(),
            request_timeout=self.settings.request_timeout,
            spawn=self.spawn,
        )
        self.warden.watch(target.own_process().pid)
        try:
            await target.read_hello(self.settings.launch_timeout)
        except BaseException:  # cancellation included: no process may be left behind
            await target.kill()
            self._unwatch(target)
            raise
        return target

    def _unwatch(self, target: Target) -> None:
        """Forget the pid of a process that has ended, because another may get it."""
        self.warden.forget(target.own_process().pid)

    def unsaved_warning(self) -> ServerWarning | None:
        """What is not on disk yet, if anything."""
        problems = {
            session.id: session.storage.unsaved.message
            for session in self._sessions.values()
            if session.storage.unsaved is not None
        }
        if not (problems or self.projects.unsaved or self._undeleted):
            return None
        why = next(iter(problems.values()), "")
        message = f"Not everything could be written; it is tried again every second. {why}"
        details: dict[str, object] = {
            "sessions": list(problems),
            "projects": sorted(self.projects.unsaved.copy()),
            "deleted_sessions": sorted(self._undeleted),
        }
        return ServerWarning(code="STORE_BEHIND", message=message.rstrip(), details=details)

    def tell_unsaved(self, message: str | None) -> None:
        """Tell every session that it is not saved any more, or with None, that it is again."""
        for session in self._sessions.values():
            if message is None:
                session.event("saved")
            else:
                session.event("not_saved", message=message)

    def _log_unsaved(self) -> None:
        """Write to the log when something cannot be saved, and when all of it is."""
        warning = self.unsaved_warning()
        if (warning is not None) != self._is_unsaved_logged:
            self._is_unsaved_logged = warning is not None
            log.warning("%s", "Everything is written again." if not warning else warning["message"])

    async def restore(self, record: SessionRecord) -> None:
        """Restore a session of an earlier server, ready to be restarted."""
        last_seq = await self.store.feed.last_seq(record.id)
        session = self._build(record.id, record.document, record.created_at, last_seq)
        session.is_recovered = True
        session.storage.note_shared()
        if session.launch is not None or session.attached is not None:
            was = record.document.get("state")
            ended = was in (State.TERMINATED.value, State.FAILED.value)
            session.state = State.TERMINATED
            session.reason = str(record.document.get("reason")) if ended else "server_stopped"
            session.exit_code = record.document.get("exit_code") if ended else None
        self._sessions[session.id] = session

    async def _sweep(self) -> None:
        """End sessions that have had no request for too long."""
        while True:
            nearest = min((session.idle.seconds_left for session in self.all()), default=60.0)
            await asyncio.sleep(min(max(nearest, 0.02), _SWEEP_SECONDS))
            idle = [session for session in self.all() if session.idle.seconds_left <= 0]
            for ended in await asyncio.gather(*map(self._expire, idle), return_exceptions=True):
                if isinstance(ended, BaseException):
                    log.error("an idle session could not be ended", exc_info=ended)
            self._drop_oldest_expired()
            self._log_unsaved()
            await self._retry_writes()

    async def _retry_writes(self) -> None:
        """Try again to write what could not be written."""
        for session in list(self._sessions.values()):
            if session.storage.unsaved is not None:
                await session.storage.save()
        self.projects.retry()
        for session_id in list(self._undeleted):
            await self._erase(session_id)

    async def _erase(self, session_id: str) -> None:
        """Delete a session from the store, now or later: it must not come back."""
        try:
            await self.store.directory.delete_session(session_id)
        except errors.NotStored:
            self._undeleted.add(session_id)
        else:
            self._undeleted.discard(session_id)

    def _drop_oldest_expired(self) -> None:
        """Forget the oldest expired sessions. They are kept to tell clients that they expired."""
        expired = [session.id for session in self._sessions.values() if session.expired]
        for session_id in expired[:-_MAX_EXPIRED]:
            self._sessions.pop(session_id).close()

    async def _expire(self, session: ProgramSession) -> None:
        session.idle.expired = session.storage.is_forgotten = True
        session.event("expired", timeout_minutes=session.idle.minutes)
        session.note_end("timeout", None)
        session.state, session.reason = State.TERMINATED, "timeout"
        await self._end(session, "timeout")
        await self._erase(session.id)

    # -- sessions ---------------------------------------------------------------------------

    def all(self) -> list[ProgramSession]:
        return [session for session in self._sessions.values() if not session.expired]

    def _is_there(self, session_id: str) -> bool:
        session = self._sessions.get(session_id)
        return session is not None and not session.expired

    def find(self, session_id: str) -> ProgramSession | None:
        """The session, which may have expired."""
        return self._sessions.get(session_id)

    def choose(self, wanted: str | None) -> ProgramSession:
        """The session of this id or name. None or `latest`: the latest one that is alive, and one
        that is paused before one that runs."""
        return choose_session(self.all(), wanted)

    def drop_expired(self, session: ProgramSession) -> None:
        """Forget an expired session after the answer that says so."""
        if session.expired:
            self._sessions.pop(session.id, None)
            session.close()

    async def list_processes(self) -> ProcessList:
        """The Python processes of this machine that could be attached to, or could not."""
        processes = await asyncio.to_thread(python_processes, {os.getpid()})
        return ProcessList(processes, len(processes))

    def _check_room(self) -> None:
        count = len(self.all())
        if count >= self.settings.max_sessions:
            raise errors.WrongState(
                f"there are {count} sessions, the most this server keeps",
                hint="Delete sessions that are over, or raise max_sessions with PATCH /config.",
                state="full",
                possible=["delete"],
            )

    async def open(self, config: SessionConfig, profile: str | None = None) -> ProgramSession:
        """Open a session with the breakpoints of its project, and of a profile.

        The project's directory must exist."""
        config = dataclasses.replace(config, cwd=resolve_directory(config.cwd))
        self._check_room()
        session = self._add_session(new_id("sess"), config)
        if config.cwd is not None:
            session.breakpoints.points.restore(self.projects.breakpoints(config.cwd))
            session.storage.note_shared()
        session.event("created", name=config.name)
        await self._save_new(session)
        if profile:
            try:
                session.breakpoints.points.add(await self.profiles.get(profile))
            except BaseException:  # cancellation included: delete the incomplete session
                await self.delete(session)
                raise
            await session.storage.save()
        return session

    async def create(
        self,
        config: SessionConfig,
        start: Start | None,
        preparation: Preparation,
        options: RunOptions,
        profile: str | None = None,
    ) -> ProgramDetail:
        """Open a session, set breakpoints, start its program: all of it, or there is no session."""
        seconds, include = parse_wait(options.wait, self.settings.max_wait), parse_include(options)
        session = await self.open_started(config, start, preparation, profile)
        if seconds and start is not None:
            await session.wait_until_settled(seconds)
        asked = options.wait is not None or options.include is not None
        answer = await session.detail(include if asked else NOTHING)
        session.show_prepared(answer)
        return answer

    async def open_started(
        self,
        config: SessionConfig,
        start: Start | None,
        preparation: Preparation,
        profile: str | None = None,
        *,
        is_private: bool = False,
    ) -> ProgramSession:
        """Open a session and start its program: all of it, or there is no session.

        `is_private`: its breakpoints are not those of its project."""
        session = await self.open(config, profile)
        session.storage.is_private = is_private
        try:
            if start is None:
                session.breakpoints.set_before_start(preparation)
                await session.storage.save()
            else:
                await session.begin(start, preparation)
        except BaseException as problem:  # cancellation included: delete what has not begun
            if isinstance(problem, (errors.LaunchFailed, errors.ProgramSyntaxError)):
                _explain_without_session(problem, session)
            session.breakpoints.undo_set_before_start()
            await session.storage.save()
            await self.delete(session)
            raise
        return session

    async def invite(self, pid: int, name: str | None) -> JoinInvitation:
        """Open a session for a process that wants to be debugged, and tell it how to join."""
        return await invite_process(self, pid, name)

    async def _save_new(self, session: ProgramSession) -> None:
        """Save a new session. If it cannot be saved, there is no session."""
        await session.storage.save()
        if session.storage.unsaved is not None:
            problem = session.storage.unsaved
            await self.delete(session)
            raise problem

    def _add_session(
        self,
        session_id: str,
        config: SessionConfig,
        parent_id: str | None = None,
        created_at: float | None = None,
        last_seq: int = 0,
    ) -> ProgramSession:
        session = ProgramSession(self, session_id, config, parent_id, created_at, last_seq)
        if config.cwd is not None:
            session.breakpoints.points.base = config.cwd
        self._sessions[session_id] = session
        return session

    def create_child(self, parent: ProgramSession) -> ProgramSession:
        """Create a session for a child process, with its parent's breakpoints and settings."""
        self._check_room()
        name = parent.config.name or (parent.launch.target if parent.launch else parent.id)
        config = dataclasses.replace(parent.config, name=f"{Path(name).name} (child)")
        child = self._add_session(new_id("sess"), config, parent.id)
        documents = parent.breakpoints.points.documents(of_everybody=True)
        child.breakpoints.points.restore(documents)
        child.breakpoints.exceptions = parent.breakpoints.effective_exceptions
        parent.children.ids.append(child.id)
        child.event("created", name=config.name, parent_id=parent.id)
        return child

    def children_of(self, session: ProgramSession) -> list[ProgramSession]:
        return [self._sessions[child] for child in session.children.ids if child in self._sessions]

    def parent_of(self, session: ProgramSession) -> ProgramSession | None:
        return self._sessions.get(session.parent_id) if session.parent_id else None

    def _build(
        self,
        session_id: str,
        document: Mapping[str, Any],
        created_at: float | None = None,
        last_seq: int = 0,
        *,
        strict: bool = False,
    ) -> ProgramSession:
        """Build a session from an exported document."""
        config = parse_config(document)
        session = self._add_session(session_id, config, None, created_at, last_seq)
        try:
            apply_document(session, document, strict=strict)
        except BaseException:  # a document that cannot be read leaves no session behind
            del self._sessions[session_id]
            session.stop_listening()
            raise
        return session

    async def import_session(self, document: Mapping[str, Any]) -> ProgramSession:
        """Open a session like the exported one. Its project's directory must exist here."""
        config = resolve_settings(document.get("config") or {})
        return await self._open_copy({**document, "config": config})

    async def _open_copy(self, document: Mapping[str, Any]) -> ProgramSession:
        """Open a session from a document. Its breakpoints get new ids."""
        self._check_room()
        points = [{**point, "id": None} for point in document.get("breakpoints") or []]
        try:
            session = self._build(new_id("sess"), {**document, "breakpoints": points}, strict=True)
        except (TypeError, ValueError, KeyError, AttributeError) as problem:
            raise errors.InvalidInput(
                f"not an exported session: {problem}",
                hint="Send what GET /sessions/{id}/export gave.",
            ) from None
        session.event("created", name=session.config.name, imported=True)
        await self._save_new(session)
        return session

    async def clone(self, session: ProgramSession, name: str | None) -> ProgramSession:
        document = export_document(session)
        config = dict(document["config"])
        config["name"] = name or f"{session.config.name or session.id} (copy)"
        return await self._open_copy({**document, "config": config})

    async def delete(self, session: ProgramSession) -> None:
        session.storage.is_forgotten = True
        self._sessions.pop(session.id, None)
        await self._end(session, "deleted")
        await self.delete_children(session)
        session.close()
        await self._erase(session.id)

    async def delete_children(self, session: ProgramSession) -> None:
        """Delete the sessions of its children, after its own end: it can start no more of them."""
        children, session.children.ids = session.children.ids, []
        for child_id in children:
            child = self._sessions.get(child_id)
            if child is not None:
                await self.delete(child)

    async def _end(self, session: ProgramSession, reason: str) -> None:
        """End its target, every process that it left behind, and any start under way."""
        session.is_closed = True
        if not session.over:
            session.end_reason = session.end_reason or reason
        session.cut_start_short(reason)
        async with session.busy:
            await session.end_target()
        if session.parent_id is None:
            session.note_end(reason, None, Signal.EXITED)

    def settings_changed(self) -> None:
        for session in self._sessions.values():
            session.output.limit_bytes = session.output_limit

    def stop_waiting(self) -> None:
        for session in self._sessions.values():
            session.stop_waiting()


def _explain_without_session(problem: errors.HoldfastError, session: ProgramSession) -> None:
    """Say what to do without the session, which is deleted with its output."""
    problem.hint = "Nothing is left of the session. Correct it, and send the request again."
    if isinstance(problem, errors.LaunchFailed):
        tail = session.output.read_tail(None, _SHOWN_BYTES)
        problem.details["output"] = "".join(entry["text"] for entry in tail.entries)
