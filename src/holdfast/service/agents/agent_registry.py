"""Follows every agent session: reads when a wake-up FIFO is written to, and checks regularly.

A bridge rings for each event. The regular check finds events that were written without ringing,
and agents that died: their locks are free. Nothing that is wrong with one session's files keeps the
server from the others.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import shutil
import stat
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from holdfast import errors
from holdfast.core.ledger import Ledger
from holdfast.recording import liveness, wakeup_fifo
from holdfast.recording.directories import AgentsDirectory, SessionDirectory
from holdfast.recording.regular_files import read_regular
from holdfast.service.agents.agent_reruns import AgentReruns
from holdfast.service.agents.agent_session import AgentHold, AgentSession
from holdfast.service.agents.recording_reader import RecordingReader
from holdfast.service.agents.recording_scan import CRASHED, RecordingScan, scan_recording
from holdfast.service.event_stream import EventStream
from holdfast.service.programs.program_service import Programs
from holdfast.service.settings import Settings
from holdfast.service.warning_list import WarningList

log = logging.getLogger(__name__)
_CHECK_SECONDS = 0.25
_CHECKS_BETWEEN_ENDED = 4  # every 4th check also reads sessions that have ended
_MAX_PIECES_AT_ONCE = 32  # the next check reads the rest
_SAME_TICK_SECONDS = 0.1  # two changes within this time may leave the same timestamp


class AgentRegistry:
    def __init__(
        self,
        root: Path,
        ledger: Ledger,
        stream: EventStream,
        settings: Callable[[], Settings],
        warnings: WarningList,
        programs: Programs,
        data_dir: Path,
    ) -> None:
        self.settings = settings
        self.sessions: dict[str, AgentSession] = {}
        self.warnings = warnings
        self._agents = AgentsDirectory(root)
        self._ledger = ledger
        self._stream = stream
        self._bells: dict[Path, tuple[int, int]] = {}  # descriptor and inode by path
        self._refused: set[str] = set()
        self._listed_at = -1
        self._finding = asyncio.Lock()
        self._is_search_wanted = False  # whether a search for new sessions is about to begin
        self._tasks: set[asyncio.Task[None]] = set()
        self._soon: asyncio.Handle | None = None
        self.reader = RecordingReader()
        self.reruns = AgentReruns(programs, root, data_dir, self._find)
        """The processes of agents that this server started."""

    # -- its own life -----------------------------------------------------------------------

    async def start(self) -> None:
        self.reruns.remove_left_edits()
        try:
            self._agents.create()
        except OSError as problem:
            message = f"agents cannot be followed in {self._agents.root}: {problem}"
            self.warnings.add("AGENTS_NOT_FOLLOWED", message, directory=str(self._agents.root))
        self._open_bell(self._agents.server_bell)
        await self._find()
        self._start_task(self._check_regularly())
        self._start_task(self._count_all())

    def close(self) -> None:
        self.reader.close()
        for task in self._tasks:
            task.cancel()
        if self._soon is not None:
            self._soon.cancel()
        for path, (_, file) in list(self._bells.items()):
            self._close_bell(path)
            with contextlib.suppress(OSError):
                if os.stat(path).st_ino == file:  # unless another server has replaced it
                    os.unlink(path)

    def stop_waiting(self) -> None:
        self.reruns.stop_waiting()
        self.reader.stop_waiting()
        for session in self.sessions.values():
            session.stop_waiting()

    async def _count_all(self) -> None:
        """Count what the recordings of earlier agents have, the newest first, for lists."""
        for session in sorted(self.sessions.values(), key=lambda one: -one.created_at):
            try:
                await session.count_events()
            except OSError:
                log.exception("the events of %s cannot be counted", session.id)

    def _start_task(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # -- bells ------------------------------------------------------------------------------

    def _open_bell(self, path: Path) -> None:
        """Open the FIFO and read it when it is written to. Open it again if it was deleted."""
        try:
            here: int | None = os.stat(path).st_ino
        except OSError:
            here = None
        if path in self._bells:
            if self._bells[path][1] == here:
                return
            self._close_bell(path)
        handle = wakeup_fifo.open_fifo(path)
        if handle is not None:
            self._bells[path] = handle, os.fstat(handle).st_ino
            asyncio.get_running_loop().add_reader(handle, self._on_ring, handle)

    def _close_bell(self, path: Path) -> None:
        handle, _file = self._bells.pop(path)
        asyncio.get_running_loop().remove_reader(handle)
        with contextlib.suppress(OSError):
            os.close(handle)

    def _on_ring(self, handle: int) -> None:
        wakeup_fifo.drain(handle)
        self._read_new_lines()
        if not self._is_search_wanted and self._has_changed():
            self._is_search_wanted = True
            self._start_task(self._find())

    # -- reading ----------------------------------------------------------------------------

    def _read_new_lines(self, everyone: bool = False) -> None:
        """Read what running agents have written. Read in pieces, so that each gets a turn."""
        self._soon = None
        is_more = False
        for session in list(self.sessions.values()):
            if everyone or not session.over:
                is_more = self._read(session) or is_more
        if is_more and self._soon is None:
            self._soon = asyncio.get_running_loop().call_soon(self._read_new_lines, everyone)

    def _read(self, session: AgentSession) -> bool:
        try:
            return session.tail.has_more() and session.read_new_lines()
        except Exception:
            # A session with unreadable files must not stop the others from being followed.
            log.exception("the events of %s cannot be followed", session.id)
            return False

    # -- checking ---------------------------------------------------------------------------

    async def _check_regularly(self) -> None:
        for number in count(1):
            await asyncio.sleep(_CHECK_SECONDS)
            try:
                await self._check_agents(everyone=number % _CHECKS_BETWEEN_ENDED == 0)
            except Exception:
                # Without these checks nobody would notice that an agent died, so they go on.
                log.exception("agents could not be checked")

    async def _check_agents(self, everyone: bool) -> None:
        self._open_bell(self._agents.server_bell)
        await self._find()
        watched = [
            session
            for session in self.sessions.values()
            if not session.over or session.reason == CRASHED
        ]
        alive = await asyncio.to_thread(_find_alive, [session.home for session in watched])
        self._read_new_lines(everyone)
        for session in watched:
            is_alive = session.id in alive
            if session.over and is_alive and session.reason == CRASHED:
                session.revive()
            elif not session.over and not is_alive:
                is_more = self._read(session)
                if not is_more and not session.over:
                    session.end(CRASHED)

    def _has_changed(self) -> bool:
        """Whether there may be new sessions."""
        try:
            changed = os.stat(self._agents.sessions).st_mtime_ns
        except OSError:
            return False
        return changed != self._listed_at or time.time() - changed / 1e9 < _SAME_TICK_SECONDS

    async def _find(self) -> None:
        """Follow new sessions, and forget those whose files were deleted."""
        async with self._finding:
            self._is_search_wanted = False
            known = {session.id: session.home for session in self.sessions.values()}
            listing = await asyncio.to_thread(_list, self._agents, known, self._refused)
            self._listed_at = listing.listed_at
            for home, scan in listing.new:
                if home.id not in self.sessions:
                    self._add(home, scan)
            for path in listing.strange:
                message = f"{path} is not a regular file, so its session is not followed"
                hint = "Remove it, or the directory that it is in."
                self.warnings.add("AGENT_FILE_STRANGE", f"{message}. {hint}", about=path, file=path)
            for session_id in listing.gone:
                session = self.sessions.get(session_id)
                if session is not None and session.home == known[session_id]:
                    self._forget(session, "its files are gone")

    def _add(self, home: SessionDirectory, scan: RecordingScan) -> AgentSession:
        session = AgentSession(home, self._ledger, self._stream, self)
        try:
            session.begin(scan)
            for _ in range(_MAX_PIECES_AT_ONCE):
                if not session.read_new_lines():
                    break
        except Exception:
            # A session with unreadable files must not stop the others from being followed.
            log.exception("session %s cannot be followed", home.id)
            self._refused.add(home.id)
        else:
            self.sessions[session.id] = session
            self._stream.changes.note(session.id)
        return session

    def _forget(self, session: AgentSession, why: str) -> None:
        self.sessions.pop(session.id, None)
        self.reader.forget(session)
        session.end(why)

    # -- operations -------------------------------------------------------------------------

    def get(self, session_id: str) -> AgentSession:
        session = self.sessions.get(session_id)
        if session is None:
            raise errors.SessionNotFound(
                f"no agent session {session_id}", id=session_id, session_id=session_id
            )
        return session

    def get_hold(self, hold_id: str) -> tuple[AgentSession, AgentHold]:
        """An open hold and its session; AlreadyDecided if it was settled."""
        hold = self._ledger.get_open(hold_id)
        session = self.get(hold.session_id)
        held = session.find_hold(hold_id)
        assert held is not None
        return session, held

    async def follow(self, directory: str) -> AgentSession:
        """Follow a session in a directory outside the server's own."""
        home = await asyncio.to_thread(_check_directory, directory)
        known = self.sessions.get(home.id)
        if known is not None:
            if os.path.realpath(known.home.path) != os.path.realpath(home.path):
                raise _refuse(f"another session is called {home.id}", directory)
            return known
        scan = await asyncio.to_thread(scan_recording, home)
        if home.id in self.sessions:
            return self.sessions[home.id]
        session = self._add(home, scan or RecordingScan(home.read_metadata(), is_alive=True))
        if session.id not in self.sessions:
            raise _refuse("its files cannot be read", directory)
        with contextlib.suppress(OSError):
            if home.path.parent.name == "sessions" and _is_ours(home.agents.root):
                self._open_bell(home.agents.server_bell)
        return session

    async def delete(self, session: AgentSession) -> None:
        """Forget a session that has ended, and delete its recording.

        An agent that this server started is ended first.
        """
        if self.reruns.find_agent(session.id) is not None:
            await self.reruns.end_session(session.id)
            session.end(session.reason or "deleted")
        elif not session.over or (session.reason == CRASHED and liveness.is_alive(session.home)):
            raise errors.WrongState(
                f"the agent of session {session.id} still runs",
                hint="Its recording can be deleted when it has ended; end its process first.",
                session_id=session.id,
                kind=session.kind.value,
                state=session.state.value,
                possible=["command", "pause", "continue", "events"],
            )
        try:
            await asyncio.to_thread(shutil.rmtree, session.home.path)
        except FileNotFoundError:
            pass
        except OSError as problem:
            raise errors.NotStored(
                f"the recording of {session.id} cannot be deleted: {problem}",
                session_id=session.id,
            ) from None
        self._forget(session, "deleted")


@dataclass
class _Listing:
    """The sessions that are new, and those that were deleted; files that cannot be read."""

    listed_at: int = -1
    new: list[tuple[SessionDirectory, RecordingScan]] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    strange: list[str] = field(default_factory=list)


def _list(
    agents: AgentsDirectory, known: dict[str, SessionDirectory], refused: set[str]
) -> _Listing:
    """Reads the directory, so call it in a thread."""
    listing = _Listing()
    with contextlib.suppress(OSError):
        listing.listed_at = os.stat(agents.sessions).st_mtime_ns
    for home in agents.list_sessions():
        if home.id not in known and home.id not in refused:
            scan = scan_recording(home)
            if scan is not None:
                listing.new.append((home, scan))
            else:
                listing.strange += filter(_is_strange, map(str, (home.events, home.about)))
    listing.gone = [home.id for home in known.values() if not home.path.is_dir()]
    return listing


def _is_strange(path: str) -> bool:
    """Whether it is there, but is no regular file."""
    try:
        return not stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


def _find_alive(homes: list[SessionDirectory]) -> set[str]:
    return {home.id for home in homes if liveness.is_alive(home)}


def _check_directory(directory: str) -> SessionDirectory:
    """The session in a given directory; InvalidInput if there is none, or another user owns it."""
    path = Path(directory)
    if not path.is_absolute() or "\0" in directory:
        raise _refuse("it is no absolute path", directory)
    try:
        if not stat.S_ISDIR(os.stat(path).st_mode):
            raise _refuse("it is no directory", directory)
        if not _is_ours(path):
            raise _refuse("it belongs to another user", directory)
        about = json.loads(read_regular(path / "session.json"))
    except OSError as problem:
        raise _refuse(problem.strerror or str(problem), directory) from None
    except ValueError:
        raise _refuse("its session.json is no JSON", directory) from None
    if not isinstance(about, dict) or about.get("id") != path.name:
        raise _refuse("its session.json names another session", directory)
    try:
        AgentsDirectory(path).home(path.name)  # raises if no session may have this name
    except ValueError as problem:
        raise _refuse(str(problem), directory) from None
    return SessionDirectory(path)


def _is_ours(path: Path) -> bool:
    return not hasattr(os, "getuid") or os.stat(path).st_uid == os.getuid()


def _refuse(why: str, directory: str) -> errors.InvalidInput:
    return errors.InvalidInput(
        f"{directory[:300]} cannot be followed: {why}",
        hint="Name the directory of an agent session of your own, with its session.json.",
        field="directory",
    )
