"""Keeping up with every agent: woken by their bells, and by a look from time to time.

A bridge rings for each event. Whoever writes without ringing is found by the look, and so are
agents that died: their locks are free. Nothing that is wrong with one session's files keeps the
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
from itertools import count
from pathlib import Path
from typing import Any

from holdfast import errors
from holdfast.core.ledger import Ledger
from holdfast.recording import liveness, wakeup_fifo
from holdfast.recording.directories import AgentsDirectory, SessionDirectory
from holdfast.service.agents.agent_session import AgentHold, AgentSession
from holdfast.service.agents.recording_scan import CRASHED, RecordingScan, scan_recording
from holdfast.service.event_stream import EventStream
from holdfast.service.settings import Settings

log = logging.getLogger(__name__)
_LOOK_SECONDS = 0.25
_LOOKS_AT_THE_ENDED = 4
_SAME_TICK = 0.1  # seconds in which a directory may change twice and look the same


class AgentRegistry:
    def __init__(
        self, root: Path, ledger: Ledger, stream: EventStream, settings: Callable[[], Settings]
    ) -> None:
        self.settings = settings
        self.sessions: dict[str, AgentSession] = {}
        self.problem: str | None = None
        self._agents = AgentsDirectory(root)
        self._ledger = ledger
        self._stream = stream
        self._bells: dict[Path, tuple[int, int]] = {}  # descriptor, and the file it was
        self._refused: set[str] = set()
        self._listed_at = -1
        self._finding = asyncio.Lock()
        self._is_wanted = False  # whether somebody is about to find what is new
        self._tasks: set[asyncio.Task[None]] = set()
        self._soon: asyncio.Handle | None = None

    # -- its own life -----------------------------------------------------------------------

    async def start(self) -> None:
        try:
            self._agents.create()
        except OSError as problem:
            self.problem = f"agents cannot be followed in {self._agents.root}: {problem}"
        self._hang_bell(self._agents.server_bell)
        await self._find()
        self._begin(self._look())

    def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        if self._soon is not None:
            self._soon.cancel()
        for path, (_, file) in list(self._bells.items()):
            self._take_down(path)
            with contextlib.suppress(OSError):
                if os.stat(path).st_ino == file:  # and not that of a server that came meanwhile
                    os.unlink(path)

    def stop_waiting(self) -> None:
        for session in self.sessions.values():
            session.stop_waiting()

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # -- bells ------------------------------------------------------------------------------

    def _hang_bell(self, path: Path) -> None:
        """Hear it ring; once more if somebody took it away."""
        try:
            here: int | None = os.stat(path).st_ino
        except OSError:
            here = None
        if path in self._bells:
            if self._bells[path][1] == here:
                return
            self._take_down(path)
        handle = wakeup_fifo.open_fifo(path)
        if handle is not None:
            self._bells[path] = handle, os.fstat(handle).st_ino
            asyncio.get_running_loop().add_reader(handle, self._rung, handle)

    def _take_down(self, path: Path) -> None:
        handle, _file = self._bells.pop(path)
        asyncio.get_running_loop().remove_reader(handle)
        with contextlib.suppress(OSError):
            os.close(handle)

    def _rung(self, handle: int) -> None:
        wakeup_fifo.drain(handle)
        self._read_on()
        if not self._is_wanted and self._has_changed():
            self._is_wanted = True
            self._begin(self._find())

    # -- reading ----------------------------------------------------------------------------

    def _read_on(self, everyone: bool = False) -> None:
        """What is new of all that run; of much, a part now, the rest when others had their turn."""
        self._soon = None
        is_more = False
        for session in list(self.sessions.values()):
            if everyone or not session.over:
                is_more = self._read(session) or is_more
        if is_more and self._soon is None:
            self._soon = asyncio.get_running_loop().call_soon(self._read_on)

    def _read(self, session: AgentSession) -> bool:
        try:
            return session.tail.has_more() and session.read_on()
        except Exception:
            log.exception("the events of %s cannot be followed", session.id)
            return False

    # -- looking ----------------------------------------------------------------------------

    async def _look(self) -> None:
        for number in count(1):
            await asyncio.sleep(_LOOK_SECONDS)
            try:
                await self._look_once(everyone=number % _LOOKS_AT_THE_ENDED == 0)
            except Exception:
                log.exception("agents could not be looked after")

    async def _look_once(self, everyone: bool) -> None:
        self._hang_bell(self._agents.server_bell)
        await self._find()
        looked_at = [
            each for each in self.sessions.values() if not each.over or each.reason == CRASHED
        ]
        alive = await asyncio.to_thread(_alive, [each.home for each in looked_at])
        self._read_on(everyone)
        for session in looked_at:
            is_alive = session.id in alive
            if session.over and is_alive and session.reason == CRASHED:
                session.revive()
            elif not session.over and not is_alive:
                while self._read(session):
                    pass
                if not session.over:
                    session.end(CRASHED)

    def _has_changed(self) -> bool:
        """Whether there may be sessions that are not known."""
        try:
            changed = os.stat(self._agents.sessions).st_mtime_ns
        except OSError:
            return False
        return changed != self._listed_at or time.time() - changed / 1e9 < _SAME_TICK

    async def _find(self) -> None:
        """Take up the sessions that are new, and let go of those whose files are gone."""
        async with self._finding:
            self._is_wanted = False
            known = {each.id: each.home for each in self.sessions.values()}
            found = await asyncio.to_thread(_found, self._agents, known, self._refused)
            self._listed_at = found.listed_at
            for home, seen in found.new:
                if home.id not in self.sessions:
                    self._take_up(home, seen)
            for session_id in found.gone:
                session = self.sessions.get(session_id)
                if session is not None and session.home == known[session_id]:
                    self._forget(session, "its files are gone")

    def _take_up(self, home: SessionDirectory, seen: RecordingScan) -> AgentSession:
        session = AgentSession(home, self._ledger, self._stream, self)
        try:
            session.begin(seen)
            while session.read_on():
                pass
        except Exception:
            log.exception("session %s cannot be followed", home.id)
            self._refused.add(home.id)
        else:
            self.sessions[session.id] = session
        return session

    def _forget(self, session: AgentSession, why: str) -> None:
        session.end(why)
        self.sessions.pop(session.id, None)

    # -- asked for --------------------------------------------------------------------------

    def session(self, session_id: str) -> AgentSession:
        found = self.sessions.get(session_id)
        if found is None:
            raise errors.SessionNotFound(
                f"no agent session {session_id}", id=session_id, session_id=session_id
            )
        return found

    def held(self, hold_id: str) -> tuple[AgentSession, AgentHold]:
        """An open hold, and whose it is; AlreadyDecided if it was settled."""
        hold = self._ledger.get_open(hold_id)
        session = self.session(hold.session_id)
        held = session.hold(hold_id)
        assert held is not None
        return session, held

    async def follow(self, directory: str) -> AgentSession:
        """A session whose directory is not among ours."""
        home = await asyncio.to_thread(_checked, directory)
        known = self.sessions.get(home.id)
        if known is not None:
            if os.path.realpath(known.home.path) != os.path.realpath(home.path):
                raise _not_ours(f"another session is called {home.id}", directory)
            return known
        seen = await asyncio.to_thread(scan_recording, home)
        if home.id in self.sessions:
            return self.sessions[home.id]
        session = self._take_up(home, seen or RecordingScan(home.read_metadata(), is_alive=True))
        if session.id not in self.sessions:
            raise _not_ours("its files cannot be read", directory)
        with contextlib.suppress(OSError):
            if home.path.parent.name == "sessions" and _is_ours(home.agents.root):
                self._hang_bell(home.agents.server_bell)
        return session

    async def delete(self, session: AgentSession) -> None:
        """Its recording goes too."""
        if not session.over or (session.reason == CRASHED and liveness.is_alive(session.home)):
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


class _Found:
    def __init__(self) -> None:
        self.listed_at = -1
        self.new: list[tuple[SessionDirectory, RecordingScan]] = []
        self.gone: list[str] = []


def _found(
    agents: AgentsDirectory, known: dict[str, SessionDirectory], refused: set[str]
) -> _Found:
    """In a thread: which sessions there are that were not known, and which are no more."""
    found = _Found()
    with contextlib.suppress(OSError):
        found.listed_at = os.stat(agents.sessions).st_mtime_ns
    for home in agents.list_sessions():
        if home.id not in known and home.id not in refused:
            seen = scan_recording(home)
            if seen is not None:
                found.new.append((home, seen))
    found.gone = [home.id for home in known.values() if not home.path.is_dir()]
    return found


def _alive(homes: list[SessionDirectory]) -> set[str]:
    return {home.id for home in homes if liveness.is_alive(home)}


def _checked(directory: str) -> SessionDirectory:
    """The session in a directory that somebody named; InvalidInput if it is none, or not ours."""
    path = Path(directory)
    if not path.is_absolute() or "\0" in directory:
        raise _not_ours("it is no absolute path", directory)
    try:
        if not stat.S_ISDIR(os.stat(path).st_mode):
            raise _not_ours("it is no directory", directory)
        if not _is_ours(path):
            raise _not_ours("it belongs to another user", directory)
        about = json.loads((path / "session.json").read_bytes())
    except OSError as problem:
        raise _not_ours(problem.strerror or str(problem), directory) from None
    except ValueError:
        raise _not_ours("its session.json is no JSON", directory) from None
    if not isinstance(about, dict) or about.get("id") != path.name:
        raise _not_ours("its session.json names another session", directory)
    try:
        AgentsDirectory(path).home(path.name)  # is it a name that a session may have?
    except ValueError as problem:
        raise _not_ours(str(problem), directory) from None
    return SessionDirectory(path)


def _is_ours(path: Path) -> bool:
    return not hasattr(os, "getuid") or os.stat(path).st_uid == os.getuid()


def _not_ours(why: str, directory: str) -> errors.InvalidInput:
    return errors.InvalidInput(
        f"{directory[:300]} cannot be followed: {why}",
        hint="Name the directory of an agent session of your own, with its session.json.",
        field="directory",
    )
