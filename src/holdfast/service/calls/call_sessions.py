"""The directory of call sessions: opens, resumes, ends and deletes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from holdfast import errors
from holdfast.model.call import IMPLICIT_SESSION, Application
from holdfast.model.records import SessionRecord
from holdfast.service.calls.call_holds import CallHolds
from holdfast.service.calls.call_renderer import CallRenderer
from holdfast.service.calls.call_session import CallSession
from holdfast.service.calls.function_catalog import FunctionCatalog
from holdfast.service.calls.lease_board import LeaseBoard
from holdfast.service.calls.running_calls import RunningCalls
from holdfast.service.event_stream import EventStream
from holdfast.service.new_ids import new_id
from holdfast.service.settings import Settings
from holdfast.store import Store

_WITHDRAWN_BECAUSE = {
    "process_ended": "its process has ended",
    "ended": "its session was ended",
    "deleted": "its session was deleted",
    "server_stopped": "the server stops",
}


@dataclass(eq=False)
class CallSessions(Mapping[str, CallSession]):
    """Every call session, by id."""

    _store: Store
    _stream: EventStream
    _settings: Callable[[], Settings]
    _board: LeaseBoard
    _functions: FunctionCatalog
    _running: RunningCalls
    holds: CallHolds
    renderer: CallRenderer
    _sessions: dict[str, CallSession] = field(default_factory=dict, init=False)

    def __getitem__(self, session_id: str) -> CallSession:
        return self._sessions[session_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._sessions)

    def __len__(self) -> int:
        return len(self._sessions)

    def require(self, session_id: str) -> CallSession:
        session = self._sessions.get(session_id)
        if session is None:
            raise _not_found(session_id)
        return session

    # -- opening and resuming -------------------------------------------------------------------

    def open(self, application: Application) -> CallSession:
        return self._open(new_id("calls"), application)

    def _open(self, session_id: str, application: Application) -> CallSession:
        session = CallSession(self, session_id, self._store, self._stream, application)
        self._forget_oldest()
        self._sessions[session_id] = session
        self._activate(session, "session_started")
        return session

    def _forget_oldest(self) -> None:
        """Keep `max_sessions` of the sessions that are over. The calls of the others stay."""
        over = [session for session in self._sessions.values() if session.over]
        for session in over[: len(over) - self._settings().max_sessions]:
            del self._sessions[session.id]
            session.close()
            self._store.directory.delete_session(session.id)

    def _activate(self, session: CallSession, event: str) -> None:
        session.watch(lambda: self.end(session, "process_ended"))
        if session.is_leased:
            self._board.grant(session.id)
        session.event(event, name=session.name, pid=session.pid)
        session.save()

    def accept_report(self, session_id: str) -> CallSession:
        """The session that a report belongs to. A report proves that its application is alive.

        So a session that our restart ended is resumed. One whose process seemed to have ended
        (it has another pid where it runs) is resumed too, and its process not watched any more.
        """
        session = self._sessions.get(session_id)
        if session is None:
            if session_id == IMPLICIT_SESSION:
                return self._open(IMPLICIT_SESSION, Application(name="calls without a session"))
            raise _not_found(session_id)
        if session.over:
            if session.reason not in ("server_stopped", "process_ended"):
                session.require_open()
            session.watched = session.reason != "process_ended"
            session.over, session.reason = False, None
            self._activate(session, "session_resumed")
        return session

    async def restore(self, record: SessionRecord) -> None:
        """Bring back a session of the last server.

        It goes on if its process is alive. Otherwise it is over, unless its application reports
        again.
        """
        session = await CallSession.restore(self, record, self._store, self._stream)
        self._functions.restore_uses(session.id, session.functions)
        if session.reason is None:  # the last server was killed before it could save the state
            session.reason = "server_stopped"
            session.may_repeat = True
            stored = await self._store.call_log.count_calls(session.id)
            session.calls = max(session.calls, stored)
        self._sessions[session.id] = session
        if session.reason == "server_stopped" and session.application.process_started:
            session.watch(lambda: self.end(session, "process_ended"))
        session.over = not session.is_watched
        if session.is_watched:
            session.reason = None
            session.event("session_resumed", name=session.name, pid=session.pid)
            session.save()

    # -- ending ---------------------------------------------------------------------------------

    def end(self, session: CallSession, reason: str = "ended") -> None:
        if session.over:
            return
        self.holds.withdraw_all(session, _WITHDRAWN_BECAUSE.get(reason, reason))
        session.end(reason)
        self._board.release(session.id)
        if reason != "server_stopped":
            self._running.lose(session)
        session.save()

    async def delete(self, session: CallSession) -> None:
        self.end(session, "deleted")
        del self._sessions[session.id]
        session.close()
        self._functions.forget_session(session.id)
        await self._store.call_log.delete_session(session.id)
        await self._store.directory.delete_session(session.id)

    def close(self) -> None:
        for session in self._sessions.values():
            self.end(session, "server_stopped")

    def stop_waiting(self) -> None:
        for session in self._sessions.values():
            session.stop_waiting()


def _not_found(session_id: str) -> errors.SessionNotFound:
    return errors.SessionNotFound(
        f"no session {session_id}",
        hint="POST /api/call/session begins one.",
        id=session_id,
        session_id=session_id,
    )
