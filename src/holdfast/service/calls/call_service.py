"""The parts that make up the service of intercepted calls, and their start and end."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import msgspec

from holdfast import errors
from holdfast.core.ledger import Ledger
from holdfast.model.call import Application, call_number
from holdfast.model.version import VERSION
from holdfast.service.calls.batch_recorder import BatchRecorder
from holdfast.service.calls.breakpoint_removal import BreakpointRemoval
from holdfast.service.calls.call_actions import ActionBuilder
from holdfast.service.calls.call_breakpoints import CallBreakpoints
from holdfast.service.calls.call_finder import CallFinder
from holdfast.service.calls.call_holds import CallHolds
from holdfast.service.calls.call_interceptor import CallInterceptor
from holdfast.service.calls.call_leases import CallLeases
from holdfast.service.calls.call_pruner import CallPruner
from holdfast.service.calls.call_reader import CallReader
from holdfast.service.calls.call_recorder import CallRecorder
from holdfast.service.calls.call_renderer import CallRenderer
from holdfast.service.calls.call_sessions import CallSessions
from holdfast.service.calls.call_tail import CallTail
from holdfast.service.calls.call_timeline import TimelineReader
from holdfast.service.calls.content_cache import ContentCache
from holdfast.service.calls.function_catalog import FunctionCatalog
from holdfast.service.calls.lease_board import LeaseBoard
from holdfast.service.calls.running_calls import RunningCalls
from holdfast.service.calls.stack_cache import StackCache
from holdfast.service.event_stream import EventStream
from holdfast.service.settings import Settings
from holdfast.service.warning_list import WarningList
from holdfast.store import Store
from holdfast.wire.call_answers import OpenedSession


class CallService:
    """Everything about intercepted calls. Each part has one job; this only connects them."""

    def __init__(
        self,
        store: Store,
        ledger: Ledger,
        stream: EventStream,
        settings: Callable[[], Settings],
        folder: Path,
        warnings: WarningList,
    ) -> None:
        self._call_log = call_log = store.call_log
        self._board = board = LeaseBoard(folder, warnings)
        self.contents = contents = ContentCache(store.contents)
        self.functions = functions = FunctionCatalog(call_log)
        stacks = StackCache(call_log)
        self._running = running = RunningCalls(call_log)
        actions = ActionBuilder(contents, settings)
        self.holds = holds = CallHolds(ledger, call_log, actions, settings)
        renderer = CallRenderer(call_log, contents, stacks, holds)
        self.sessions = sessions = CallSessions(
            store, stream, settings, board, functions, running, holds, renderer
        )
        self.breakpoints = CallBreakpoints(
            store.directory, board, sessions, functions, actions, contents
        )
        self.removal = BreakpointRemoval(self.breakpoints, holds)
        interceptor = CallInterceptor(self.breakpoints, holds, actions, stacks)
        self.recorder = CallRecorder(
            call_log,
            sessions,
            functions,
            contents,
            stacks,
            running,
            interceptor,
            holds,
            store.number,
        )
        self.batches = BatchRecorder(call_log, sessions, functions, contents, stacks)
        self.leases = CallLeases(board, sessions, self.breakpoints)
        finder = CallFinder(call_log, sessions, functions, contents)
        self._tail = CallTail(call_log, store.bell)
        self.reader = CallReader(call_log, finder, self._tail, functions, contents, renderer)
        self.timeline = TimelineReader(call_log, finder, store.number)
        self._pruner = CallPruner(call_log, contents, stacks, self.batches, settings)

    async def start(self) -> list[errors.HoldfastError]:
        """Load what is stored. Return what is wrong with stored breakpoints."""
        await self.recorder.load()
        await self.functions.load()
        self._pruner.start()
        return await self.breakpoints.load()

    async def open_session(self, application: Application) -> OpenedSession:
        """An application begins to report its calls; a leased one gets its lease."""
        session = self.sessions.open(application)
        await session.wait_until_saved()
        lease = msgspec.structs.asdict(self.leases.renew(session.id)) if session.is_leased else {}
        return OpenedSession(
            session_id=session.id, server_pid=os.getpid(), version=VERSION, **lease
        )

    def has_completed(self, call_id: str) -> bool:
        """Whether a call that was made lately has ended. Its session wakes when it does."""
        number = call_number(call_id)
        return number is not None and self._running.has_completed(number)

    async def wait_for_room(self) -> None:
        """Wait while too much is queued."""
        if not self._call_log.has_room:
            await self._call_log.wait_for_room()

    def settings_changed(self) -> None:
        self._pruner.prune_soon()

    def stop_waiting(self) -> None:
        self.sessions.stop_waiting()
        self.holds.stop_waiting()
        self._tail.stop_waiting()

    def close(self) -> None:
        self._pruner.close()
        self.sessions.close()
        self._board.close()
