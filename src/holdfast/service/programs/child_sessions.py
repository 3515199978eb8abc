"""Follows the processes that a session's program starts: each becomes a session of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from holdfast import errors
from holdfast.core.lifecycle import Signal
from holdfast.core.path_map import PathMap
from holdfast.model.launch import Attach, Launch
from holdfast.service.programs.run_listener import RunListener
from holdfast.targets.program import attachment
from holdfast.targets.program.attachment import ProbeSource
from holdfast.targets.program.dap_connection import ConnectionClosed
from holdfast.targets.program.join_listener import JoinListener
from holdfast.targets.program.launcher import Setup
from holdfast.targets.program.target import Target, TargetListener
from holdfast.wire.program_answers import Subprocess

if TYPE_CHECKING:
    from holdfast.service.programs.program_session import ProgramSession

_MAX_SUBPROCESSES = 1000


class ChildSessions:
    def __init__(self, session: ProgramSession) -> None:
        self._session = session
        self.ids: list[str] = []
        self.subprocesses: list[Subprocess] = []
        self._reported: frozenset[str] = frozenset()  # holds that ended a wait already
        self._join_listener: JoinListener | None = None
        self._following: asyncio.Task[None] | None = None

    @property
    def ticket(self) -> str:
        """With which the program's children join; none: they are not followed."""
        return str(self._join_listener.ticket.path) if self._join_listener else ""

    def note_subprocess(self, subprocess: Subprocess) -> None:
        self.subprocesses.append(subprocess)
        del self.subprocesses[:-_MAX_SUBPROCESSES]

    # -- those that are held ----------------------------------------------------------------

    def list_held(self) -> list[ProgramSession]:
        """The sessions of its children, and of theirs, that are held at a stop."""
        held: list[ProgramSession] = []
        family = self._session.programs.children_of(self._session)
        while family:
            member = family.pop(0)
            if member.stops.hold is not None:
                held.append(member)
            family += member.programs.children_of(member)
        return held

    def _list_holds(self) -> frozenset[str]:
        return frozenset(child.stops.hold.id for child in self.list_held() if child.stops.hold)

    async def wait_for_held(self, is_settled: Callable[[], bool], seconds: float) -> bool:
        """Wait until the session is settled, or until a child is held.

        A hold ends the waits that are under way, or the next one, but not every later one: the
        program may go on beside a child that is held.
        """
        reported = self._reported

        def is_reached() -> bool:
            return is_settled() or not self._list_holds() <= reported

        reached = await self._session.wait_until(is_reached, seconds)
        self._reported = self._list_holds()
        return reached

    def wake_ancestors(self) -> None:
        """Have those check again who wait for a program that this one descends from."""
        programs = self._session.programs
        ancestor = programs.parent_of(self._session)
        while ancestor is not None:
            ancestor.wake()
            ancestor = programs.parent_of(ancestor)

    # -- those that come --------------------------------------------------------------------

    async def open_join_listener(self) -> None:
        """Listen for the children of this session's program."""
        programs = self._session.programs
        seconds = programs.settings.request_timeout
        join_listener = JoinListener(
            programs.trusted,
            programs.tickets,
            lambda: Target(TargetListener(), route="child", request_timeout=seconds),
        )
        self._join_listener = join_listener
        await join_listener.open()
        self._following = asyncio.create_task(attachment.follow(join_listener, self._adopt))

    def stop_following(self) -> None:
        if self._following is not None:
            self._following.cancel()
            self._following = None

    def close_join_listener(self) -> None:
        if self._join_listener is not None:
            self._join_listener.close()
            self._join_listener = None

    def release(self) -> None:
        """Stop following its program's children, because it is detached."""
        self.stop_following()
        self.close_join_listener()
        for child in self._session.programs.children_of(self._session):
            if child.target is not None:
                child.target.is_own = False

    async def _adopt(self, target: Target) -> None:
        """Make a session, with its parent's breakpoints, of a child process that reported."""
        root = self._session
        request: Launch | Attach = root.launch or root.attached or Attach()
        attach = Attach(
            pid=target.pid,
            just_my_code=request.just_my_code,
            stop_all_threads=request.stop_all_threads,
            path_mappings=root.attached.path_mappings if root.attached else (),
        )
        target.paths = PathMap(attach.path_mappings)
        child: ProgramSession | None = None
        listener: RunListener | None = None

        def create_child() -> Setup:
            nonlocal child, listener
            parent = self._find_parent(target)
            child = root.programs.create_child(parent)
            target.listener = listener = child.begin_run()
            child.move(Signal.ATTACH)
            child.attached = attach
            parent.event("child_session", session_id=child.id, pid=target.pid)
            target.is_own = root.target is None or root.target.is_own
            if target.pid is not None:
                attachment.watch_foreign_process(target, target.pid)
            child.target = target  # set now, because it may stop before it is reported as running
            return child.breakpoints.setup_for(target.import_path)

        options = attachment.debug_options(attach)
        try:
            await attachment.configure(target, options, create_child, ProbeSource.LOADED)
        except (errors.HoldfastError, ConnectionClosed, asyncio.TimeoutError) as problem:
            if child is not None and not child.over:
                child.fail_start(errors.AttachFailed(f"the child was let go: {problem}"))
            raise
        assert child is not None
        assert listener is not None
        child.note_started(target)
        listener.note_started()

    def _find_parent(self, target: Target) -> ProgramSession:
        """The session whose program started it: this one, or a descendant."""
        family, parent = [self._session], self._session
        while family:
            member = family.pop()
            if member.target is not None and member.target.pid == target.parent_pid:
                parent = member
            family += member.programs.children_of(member)
        return parent
