"""What every session offers, whatever it debugs: the operations behind every face.

A face finds a session with `debugger.sessions.get(session_id)` and calls one operation. It never
asks which kind of session it has: an operation that a kind lacks raises the error that says so, and
what that kind offers instead.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from holdfast import errors
from holdfast.model.hold import Hold
from holdfast.model.launch import NO_PREPARATION, Preparation, Start
from holdfast.model.session_state import Kind, State
from holdfast.service.run_options import RunOptions
from holdfast.service.waitable import Waitable
from holdfast.wire.live_messages import SessionProgress
from holdfast.wire.session_answers import EventList
from holdfast.wire.session_requests import EvaluateHold
from holdfast.wire.target_answers import (
    DecisionAnswer,
    DetailAnswer,
    EvaluationAnswer,
    HoldDetail,
    HoldSummary,
    StatusAnswer,
    SummaryAnswer,
)

if TYPE_CHECKING:
    from holdfast.service.agents.agent_session import AgentSession
    from holdfast.service.programs.program_session import ProgramSession


@dataclass(frozen=True, slots=True)
class DecisionRequest:
    """What somebody decides about a hold. `fields` are the action's own."""

    action: str
    options: RunOptions = field(default_factory=RunOptions)
    fields: Mapping[str, Any] = field(default_factory=dict)


class Session(Waitable, ABC):
    """One target's life: a program, an application's calls, or an agent's loop."""

    kind: ClassVar[Kind]
    id: str
    created_at: float

    # -- report -----------------------------------------------------------------------------

    @property
    @abstractmethod
    def state(self) -> State: ...

    @property
    @abstractmethod
    def over(self) -> bool:
        """Whether its target has ended."""

    @abstractmethod
    def summary(self) -> SummaryAnswer:
        """The session as a list shows it."""

    def progress(self) -> SessionProgress:
        """How far it is: what a list shows of it and what changes often."""
        return SessionProgress(
            status=self.state.value, kind=self.kind.value, last_seq=self.last_seq
        )

    @abstractmethod
    async def detail(self) -> DetailAnswer:
        """All that is known of the session."""

    async def status(self, options: RunOptions) -> StatusAnswer:
        """Where its target is. With `wait`, wait until it stops or ends, or time is up."""
        raise self.not_a_program()

    @property
    def expired(self) -> bool:
        """Whether it ended because it had no request for too long."""
        return False

    def touch(self) -> None:
        """Count a request as activity. Only sessions that expire need it."""

    # -- events -----------------------------------------------------------------------------

    @property
    @abstractmethod
    def last_seq(self) -> int:
        """The number of its newest event."""

    @abstractmethod
    async def read_events(
        self, since: int, limit: int, types: frozenset[str] | None = None
    ) -> EventList:
        """The first `limit` events after `since`, of these types."""

    # -- start and end ----------------------------------------------------------------------

    async def start(
        self, request: Start, options: RunOptions, preparation: Preparation = NO_PREPARATION
    ) -> StatusAnswer:
        """Launch a program, or attach to one, with breakpoints that are set before."""
        raise self.not_a_program()

    async def restart(self, changes: Mapping[str, Any], options: RunOptions) -> StatusAnswer:
        """End what runs and start it again. `changes` replace fields of its launch."""
        raise self.not_a_program()

    async def terminate(self, by: str | None = None) -> StatusAnswer:
        """End the target, not the session. `by` says who asked for it, if others share it."""
        raise self.not_a_program()

    async def detach(self) -> StatusAnswer:
        """Let the target run on by itself."""
        raise self.not_a_program()

    @abstractmethod
    async def delete(self) -> None:
        """End the session and forget it."""

    # -- decide -----------------------------------------------------------------------------

    async def resume(self, options: RunOptions) -> StatusAnswer:
        """Continue what is held."""
        raise self.not_a_program()

    async def step(self, action: str, options: RunOptions) -> StatusAnswer:
        """`step-over`, `step-into` or `step-out`."""
        raise self.not_a_program()

    async def pause(self, options: RunOptions) -> StatusAnswer:
        """Ask the target to stop as soon as it can."""
        raise self.not_a_program()

    @abstractmethod
    async def decide(self, hold: Hold, request: DecisionRequest) -> DecisionAnswer:
        """Settle one of its holds."""

    holds_many: ClassVar[bool] = True
    """Whether it may hold several things at once, which can be continued together."""

    async def continue_holds(self, by: str) -> list[str]:
        """Continue everything that it holds; the ids of the holds that this settled."""
        raise errors.SessionNotFound(
            f"session {self.id} is of kind {self.kind.value}: it holds one thing at a time",
            hint="Continue it with POST its /continue.",
            id=self.id,
            session_id=self.id,
        )

    @property
    @abstractmethod
    def label(self) -> str | None:
        """A name to show: the one that it was given, else one of what it runs."""

    @abstractmethod
    def title_hold(self, hold: Hold) -> str:
        """What waits at one of its open holds, in one line."""

    @abstractmethod
    def summarize_hold(self, hold: Hold) -> HoldSummary:
        """One of its open holds as a list shows it."""

    @abstractmethod
    async def describe_hold(self, hold: Hold) -> HoldDetail:
        """All that is known of one of its open holds."""

    # -- inspect and evaluate ---------------------------------------------------------------

    async def evaluate(self, request: EvaluateHold, hold_id: str | None = None) -> EvaluationAnswer:
        """The value of an expression where the target is held."""
        raise self.not_a_program()

    # -- what only one kind has -------------------------------------------------------------

    @property
    def program(self) -> ProgramSession:
        """The session, if it debugs a program: breakpoints, inspection, output, input."""
        raise self.not_a_program()

    @property
    def agent(self) -> AgentSession:
        """The session, if it debugs an agent: commands, state, contents."""
        raise errors.WrongState(
            f"session {self.id} is of kind {self.kind.value}: it is no agent",
            hint="Commands are for sessions of kind agent; GET /sessions says which they are.",
            session_id=self.id,
            kind=self.kind.value,
            state=self.state.value,
            possible=["events", "delete"],
        )

    @abstractmethod
    def not_a_program(self) -> errors.WrongState:
        """The error for what only programs can do; says what this kind offers instead."""
