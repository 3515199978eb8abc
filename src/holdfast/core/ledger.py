"""The ledger of holds. A hold takes one decision, and the first one wins.

A hold is open until it is decided, or withdrawn because its target died. Settled holds are kept for
a while, so that a second decision is refused with the name of who made the first. Only the thread
of the service's event loop uses the ledger, so it has no locks.
"""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.core.decision_check import check_allowed
from holdfast.errors import AlreadyDecided, HoldNotFound
from holdfast.model.decision import Decision
from holdfast.model.hold import Hold

MAX_SETTLED = 1000


@dataclass(frozen=True)
class Withdrawal:
    """Why a hold ended without a decision."""

    why: str


@dataclass(frozen=True)
class _Settled:
    hold: Hold
    outcome: Decision | Withdrawal


class Ledger:
    def __init__(self, max_settled: int = MAX_SETTLED) -> None:
        self._max_settled = max_settled
        # Both are ordered, oldest first.
        self._open: dict[str, Hold] = {}
        self._settled: dict[str, _Settled] = {}

    def open(self, hold: Hold) -> None:
        if hold.id in self._open or hold.id in self._settled:
            raise ValueError(f"hold {hold.id} was opened before")
        self._open[hold.id] = hold

    def decide(self, hold_id: str, decision: Decision) -> Hold:
        """Settle the hold and return it. An action that it does not allow leaves it open."""
        hold = self.get_open(hold_id)
        check_allowed(hold, decision.action)
        self._settle(hold, decision)
        return hold

    def record(self, hold_id: str, decision: Decision) -> None:
        """Settle a hold as its target has decided it already, by whatever action."""
        self._settle(self.get_open(hold_id), decision)

    def withdraw(self, hold_id: str, why: str) -> Hold | None:
        """End a hold whose target is gone. None if it was not open."""
        hold = self._open.get(hold_id)
        if hold is not None:
            self._settle(hold, Withdrawal(why))
        return hold

    def get(self, hold_id: str) -> Hold:
        """The hold, open or settled."""
        if hold_id in self._open:
            return self._open[hold_id]
        if hold_id in self._settled:
            return self._settled[hold_id].hold
        raise _not_found(hold_id)

    def outcome(self, hold_id: str) -> Decision | Withdrawal | None:
        """How the hold ended, or None while it is open."""
        if hold_id in self._open:
            return None
        if hold_id in self._settled:
            return self._settled[hold_id].outcome
        raise _not_found(hold_id)

    def open_holds(self, session_id: str | None = None) -> list[Hold]:
        """The open holds, oldest first."""
        holds = self._open.values()
        return [hold for hold in holds if session_id is None or hold.session_id == session_id]

    def get_open(self, hold_id: str) -> Hold:
        """The hold, if it is open. Raises AlreadyDecided if it is settled."""
        if hold_id in self._settled:
            raise _already_settled(self._settled[hold_id])
        if hold_id not in self._open:
            raise _not_found(hold_id)
        return self._open[hold_id]

    def _settle(self, hold: Hold, outcome: Decision | Withdrawal) -> None:
        del self._open[hold.id]
        self._settled[hold.id] = _Settled(hold, outcome)
        while len(self._settled) > self._max_settled:
            del self._settled[next(iter(self._settled))]


def _not_found(hold_id: str) -> HoldNotFound:
    return HoldNotFound(f"no hold {hold_id}", hold_id=hold_id)


def _already_settled(settled: _Settled) -> AlreadyDecided:
    hold, outcome = settled.hold, settled.outcome
    if isinstance(outcome, Withdrawal):
        return AlreadyDecided(
            f"hold {hold.id} was withdrawn: {outcome.why}",
            hint="Its target no longer waits. GET the session's status to see where it is.",
            hold_id=hold.id,
            session_id=hold.session_id,
            state="withdrawn",
            possible=[],
            why=outcome.why,
        )
    return AlreadyDecided(
        f"hold {hold.id} was already decided: {outcome.action}, by {outcome.by}",
        hold_id=hold.id,
        session_id=hold.session_id,
        state="decided",
        possible=[],
        action=outcome.action,
        decided_by=outcome.by,
    )
