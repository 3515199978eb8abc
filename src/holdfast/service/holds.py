"""Holds of every kind: lists, decides and evaluates in them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from holdfast.core.decision_check import check_allowed
from holdfast.core.ledger import Ledger, Withdrawal
from holdfast.model.hold import Hold
from holdfast.wire import rest
from holdfast.wire.session_answers import ContinuedHolds, Location, SettledHold
from holdfast.wire.session_requests import EvaluateHold
from holdfast.wire.target_answers import (
    DecisionAnswer,
    EvaluationAnswer,
    HoldDetail,
    HoldList,
    HoldSummary,
)

if TYPE_CHECKING:
    from holdfast.service.event_stream import EventStream
    from holdfast.service.session import DecisionRequest
    from holdfast.service.session_registry import SessionRegistry


def hold_fields(hold: Hold) -> dict[str, Any]:
    """What every answer about a hold begins with."""
    place = hold.location
    return {
        "hold_id": hold.id,
        "id": hold.id,
        "session_id": hold.session_id,
        "reason": hold.reason,
        "opened_at": rest.timestamp(hold.opened_at),
        "thread_id": hold.thread_id,
        "location": place and Location(place.file, place.line, place.function),
        "allows": list(hold.actions),
    }


class Holds:
    def __init__(self, ledger: Ledger, sessions: SessionRegistry, stream: EventStream) -> None:
        self._ledger = ledger
        self._sessions = sessions
        self._stream = stream

    def all(self) -> HoldList:
        """Everything that waits for a decision now, oldest first."""
        holds = [self._summarize(hold) for hold in self._ledger.open_holds()]
        return HoldList(holds, len(holds))

    def _summarize(self, hold: Hold) -> HoldSummary:
        session = self._sessions.peek(hold.session_id)
        answer = session.summarize_hold(hold)
        answer.session_name, answer.title = session.label, session.title_hold(hold)
        return answer

    def list_open(self, session_id: str | None = None) -> list[Hold]:
        """What waits for a decision now, of one session or of all, oldest first."""
        return self._ledger.open_holds(session_id)

    def get_open(self, hold_id: str) -> Hold:
        """A hold that waits for a decision. An error says how it was settled otherwise."""
        return self._ledger.get_open(hold_id)

    def peek(self, hold_id: str) -> Hold:
        """A hold as it was opened, whether it is still open or not."""
        return self._ledger.get(hold_id)

    async def wait_for_any(self, session_id: str | None, seconds: float) -> bool:
        """Wait until something is held, of one session or of all; or until that session ends."""

        def is_over() -> bool:
            return session_id is not None and self._sessions.peek(session_id).over

        def is_held() -> bool:
            return bool(self._ledger.open_holds(session_id))

        await self._stream.wait_until(lambda: is_held() or is_over(), seconds)
        return is_held()

    async def get(self, hold_id: str) -> HoldDetail | SettledHold:
        """One hold, open or settled."""
        hold = self._ledger.get(hold_id)
        outcome = self._ledger.outcome(hold_id)
        if outcome is None:
            session = self._sessions.peek(hold.session_id)
            title = session.title_hold(hold)
            answer = await session.describe_hold(hold)
            answer.session_name, answer.title = session.label, title
            answer.open = True
            return answer
        action, by = "withdrawn", None
        if not isinstance(outcome, Withdrawal):
            action, by = outcome.action, outcome.by
        return SettledHold(
            **hold_fields(hold), kind=hold.kind.value, open=False, outcome=action, by=by
        )

    async def decide(self, hold_id: str, request: DecisionRequest) -> DecisionAnswer:
        """Settle a hold. The first decision wins; a later one learns who made it."""
        hold = self._ledger.get_open(hold_id)
        check_allowed(hold, request.action)
        return await self._sessions.get(hold.session_id).decide(hold, request)

    async def evaluate(self, hold_id: str, request: EvaluateHold) -> EvaluationAnswer:
        """The value of an expression where the target is held."""
        hold = self._ledger.get_open(hold_id)
        return await self._sessions.get(hold.session_id).evaluate(request, hold_id)

    async def continue_all(self, session_id: str | None, by: str) -> ContinuedHolds:
        """Continue every held call and every held agent, of one session or of all."""
        if session_id is not None:
            hold_ids = await self._sessions.get(session_id).continue_holds(by)
            return ContinuedHolds(hold_ids, len(hold_ids))
        owners = dict.fromkeys(hold.session_id for hold in self._ledger.open_holds())
        sessions = [self._sessions.peek(owner) for owner in owners]
        continued = await asyncio.gather(
            *(session.continue_holds(by) for session in sessions if session.holds_many)
        )
        hold_ids = [hold_id for settled in continued for hold_id in settled]
        return ContinuedHolds(hold_ids, len(hold_ids))
