"""What waits for a decision, whatever its kind, and the one place to decide it."""

from __future__ import annotations

import asyncio
import itertools
from typing import TYPE_CHECKING, Any

from holdfast.core.decisions import check_allowed
from holdfast.core.ledger import Ledger, Withdrawal
from holdfast.wire import rest

if TYPE_CHECKING:
    from holdfast.service.session import Answer, DecisionRequest
    from holdfast.service.session_registry import SessionRegistry

Json = dict[str, Any]
_numbers = itertools.count(1)


def new_hold_id() -> str:
    """One row of numbers for holds of every kind."""
    return f"hold_{next(_numbers)}"


class Holds:
    def __init__(self, ledger: Ledger, sessions: SessionRegistry) -> None:
        self._ledger = ledger
        self._sessions = sessions

    def all(self) -> list[Json]:
        """Everything that waits for a decision now, oldest first."""
        return [
            {**rest.hold(hold), **self._sessions.peek(hold.session_id).summarize_hold(hold)}
            for hold in self._ledger.open_holds()
        ]

    async def get(self, hold_id: str) -> Json:
        """One hold, open or settled."""
        hold = self._ledger.get(hold_id)
        outcome = self._ledger.outcome(hold_id)
        if outcome is None:
            described = await self._sessions.peek(hold.session_id).describe_hold(hold)
            return {**described, **rest.hold(hold), "open": True}
        answer = {**rest.hold(hold), "open": False, "outcome": "withdrawn", "by": None}
        if not isinstance(outcome, Withdrawal):
            answer.update(outcome=outcome.action, by=outcome.by)
        return answer

    async def decide(self, hold_id: str, request: DecisionRequest) -> Answer:
        """Settle a hold. The first decision wins; a later one learns who made it."""
        hold = self._ledger.still_open(hold_id)
        check_allowed(hold, request.action)
        return await self._sessions.get(hold.session_id).decide(hold, request)

    async def evaluate(
        self,
        hold_id: str,
        expression: str,
        *,
        frame_id: int = 0,
        context: str | None = None,
        timeout: float | None = None,
    ) -> Answer:
        """The value of an expression where the target is held."""
        hold = self._ledger.still_open(hold_id)
        return await self._sessions.get(hold.session_id).evaluate(
            expression, hold_id=hold_id, frame_id=frame_id, context=context, timeout=timeout
        )

    async def continue_all(self, session_id: str | None, by: str) -> list[str]:
        """Continue every held call and every held agent, of one session or of all."""
        if session_id is not None:
            return await self._sessions.get(session_id).continue_holds(by)
        owners = dict.fromkeys(hold.session_id for hold in self._ledger.open_holds())
        sessions = [self._sessions.peek(owner) for owner in owners]
        continued = await asyncio.gather(
            *(session.continue_holds(by) for session in sessions if session.holds_many)
        )
        return [hold_id for hold_ids in continued for hold_id in hold_ids]
