"""The object behind every face: sessions, holds, events and settings, and their start and end."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from holdfast import errors
from holdfast.core.ledger import Ledger
from holdfast.model.records import SessionRecord
from holdfast.model.session_state import Kind
from holdfast.recording.directories import agents_dir
from holdfast.service import server_report
from holdfast.service.agent_door_view import AgentDoorView
from holdfast.service.agents.agent_registry import AgentRegistry
from holdfast.service.calls.call_service import CallService
from holdfast.service.captures import Captures
from holdfast.service.data_directory_watch import DataDirectoryWatch
from holdfast.service.editor_doors import EditorDoors
from holdfast.service.event_reader import EventReader
from holdfast.service.event_stream import EventStream
from holdfast.service.holds import Holds
from holdfast.service.live_stream import LiveStream
from holdfast.service.programs.program_service import Programs
from holdfast.service.session_registry import SessionRegistry
from holdfast.service.settings import Settings
from holdfast.service.stop_signals import StopSignals
from holdfast.service.tools.tool_set import ToolSet
from holdfast.service.traces.trace_service import Traces
from holdfast.service.warning_list import WarningList
from holdfast.store import Store, open_store
from holdfast.targets.program import descriptors
from holdfast.targets.program.join_listener import Trusted
from holdfast.targets.program.process_spawner import Spawn, spawn
from holdfast.trust import proofs
from holdfast.wire.server_answers import Health, ServerInfo, ServerWarning


class Debugger:
    def __init__(
        self,
        data_dir: Path,
        store: Store,
        trusted: Trusted,
        pool_size: int | None = None,
        signals: StopSignals | None = None,
        spawn: Spawn = spawn,
    ) -> None:
        self.data_dir = data_dir
        self.secret = proofs.make_secret()
        """In `server.json`, by which this server and the user's clients know each other."""
        self.settings = Settings.read_timings()
        self.store = store
        self._warnings = WarningList()
        self._stream = EventStream()
        ledger = Ledger()
        shared = (ledger, self._stream, lambda: self.settings)
        tickets = data_dir / "tickets"
        unread = None if signals is None else signals.descriptor
        self.programs = Programs(self.store, *shared, trusted, tickets, pool_size, unread, spawn)
        self.calls = CallService(self.store, *shared, data_dir, self._warnings)
        # Inside another process the agents of the user's server are left to that server.
        agents = data_dir / "agents" if signals is None else agents_dir(data_dir)
        self.agents = AgentRegistry(agents, *shared, self._warnings, self.programs, data_dir)
        self.sessions = SessionRegistry(self.programs, self.calls, self.agents)
        self.holds = Holds(ledger, self.sessions, self._stream)
        self.events = EventReader(self.sessions, self._stream)
        self.live = LiveStream(self.sessions, self._stream, self.events)
        self.captures = Captures(data_dir, self._warnings)
        self.traces = Traces(data_dir, store, self.captures)
        self.tools = ToolSet(self)
        self.stop_requested = asyncio.Event()
        self.request_count = 0
        """How many requests there were over HTTP."""
        self.editor_doors: EditorDoors | None = None
        """Where editors come in, if they can."""
        self.agent_door: AgentDoorView | None = None
        """Where `holdfast mcp` brings agents in, if it can."""
        self._watch = DataDirectoryWatch(
            data_dir, store.file or data_dir, self._warnings, self.programs.tell_unsaved
        )

    # -- start and end ----------------------------------------------------------------------

    @classmethod
    async def open(
        cls,
        data_dir: Path,
        trusted: Trusted,
        pool_size: int | None = None,
        signals: StopSignals | None = None,
    ) -> Debugger:
        """Open it in a process of its own, which `signals` end, or inside somebody else's.

        The limit of descriptors is raised in a process of its own only."""
        if signals is not None:
            descriptors.raise_limit()
        return cls(data_dir, await open_store(data_dir), trusted, pool_size, signals)

    async def start(self) -> None:
        try:
            self.settings = self.settings.replace(await self.store.directory.settings())
        except errors.HoldfastError as problem:
            message = f"stored settings ignored: {problem.message}"
            self._warnings.add("SETTINGS_IGNORED", message)
        for error in await self.calls.start():
            message = f"stored call breakpoint ignored: {error.message}"
            self._warnings.add("BREAKPOINT_IGNORED", message, about=message)
        await self.programs.projects.load()
        await self.programs.launches.load()
        for record in await self.store.directory.sessions():
            await self._restore(record)
        await self.agents.start()
        await self.programs.start()
        self._watch.start()

    async def _restore(self, record: SessionRecord) -> None:
        if record.kind == Kind.CALLS.value:
            await self.calls.sessions.restore(record)
            return
        try:
            await self.programs.restore(record)
        except (TypeError, ValueError, KeyError, AttributeError, errors.HoldfastError) as problem:
            message = f"session {record.id} cannot be restored: {problem}"
            self._warnings.add("SESSION_IGNORED", message, about=record.id, session_id=record.id)

    async def close(self) -> None:
        """End every target; keep every configuration."""
        self._watch.close()
        self.programs.stop_sweeping()
        self.calls.close()
        self.agents.close()
        await self.agents.reruns.close()
        await self.programs.close()
        await self.store.aclose()

    @property
    def has_targets(self) -> bool:
        """Whether something runs that needs this process: a program, or an application's calls.

        An agent goes on without it, unless the server started it.
        """
        has_calls = any(
            session.kind is Kind.CALLS and not session.over for session in self.sessions.all()
        )
        has_programs = any(session.is_live for session in self.programs.all())
        return has_calls or has_programs or self.agents.reruns.has_running

    def wake_all(self) -> None:
        """Answer every waiting request now, because the server stops."""
        for part in (self.programs, self.calls, self.agents, self._stream):
            part.stop_waiting()

    # -- report -----------------------------------------------------------------------------

    def health(self) -> Health:
        """Whether the server is well."""
        return server_report.build_health(self)

    def describe(self) -> ServerInfo:
        """What the server is, and what it can do."""
        return server_report.build_info(self)

    # -- warnings and settings --------------------------------------------------------------

    @property
    def warnings(self) -> list[ServerWarning]:
        """What went wrong and was worked around: here, and in the store."""
        unsaved = self.programs.unsaved_warning()
        stored = [
            ServerWarning(code=warning.code, message=warning.message, details=dict(warning.details))
            for warning in self.store.warnings
        ]
        return [*stored, *self._warnings.entries(), *([unsaved] if unsaved else [])]

    @property
    def is_behind(self) -> bool:
        """Whether something is not on disk yet."""
        return self._watch.is_gone or self.programs.unsaved_warning() is not None

    def warn_of_exhaustion(self, error: errors.NoDescriptors) -> None:
        """Warn that a request failed because the server has no descriptors left."""
        message = f"A request failed: {error.message}. {error.hint}"
        self._warnings.add(error.code, message, **error.details)

    async def configure(self, changes: Mapping[str, Any]) -> Settings:
        settings = self.settings.replace(changes)
        await self.store.directory.put_settings(changes)
        self.settings = settings
        self.calls.settings_changed()
        self.programs.settings_changed()
        return settings
