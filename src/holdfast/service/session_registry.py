"""Finds a session of any kind by its id."""

from __future__ import annotations

from holdfast import errors
from holdfast.model.session_state import Kind, State
from holdfast.service.agents.agent_registry import AgentRegistry
from holdfast.service.calls.call_service import CallService
from holdfast.service.programs.program_service import Programs
from holdfast.service.session import Session

STATUSES = tuple(state.value for state in State)
"""Where a session can be, as its `status` says it."""
KINDS = tuple(kind.value for kind in Kind)
"""What a session can debug."""


class SessionRegistry:
    def __init__(self, programs: Programs, calls: CallService, agents: AgentRegistry) -> None:
        self._programs = programs
        self._calls = calls
        self._agents = agents

    def get(self, session_id: str) -> Session:
        """The session, for an operation, which counts as activity."""
        session = self.peek(session_id)
        if session.expired:
            raise _not_found(session_id)
        session.touch()
        return session

    def peek(self, session_id: str) -> Session:
        """The session, without counting as activity. It may have expired."""
        session = (
            self._programs.find(session_id)
            or self._calls.sessions.get(session_id)
            or self._agents.sessions.get(session_id)
        )
        if session is None:
            raise _not_found(session_id)
        return session

    def all(self) -> list[Session]:
        """Sessions of every kind, oldest first."""
        sessions: list[Session] = [*self._programs.all()]
        sessions += [*self._calls.sessions.values(), *self._agents.sessions.values()]
        return sorted(sessions, key=lambda session: session.created_at)


def _not_found(session_id: str) -> errors.SessionNotFound:
    return errors.SessionNotFound(f"no session {session_id}", id=session_id, session_id=session_id)
