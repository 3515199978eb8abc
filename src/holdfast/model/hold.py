"""Holds: points at which a target waits for a decision."""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.model.decision import CONTINUE, Moment
from holdfast.model.location import Location
from holdfast.model.session_state import Kind


@dataclass(frozen=True)
class Hold:
    id: str
    session_id: str
    kind: Kind
    reason: str
    opened_at: float
    thread_id: int | None = None
    location: Location | None = None
    moment: Moment = Moment.STOP
    allows: tuple[str, ...] = (CONTINUE.name,)

    @property
    def actions(self) -> tuple[str, ...]:
        """The actions that this hold allows. `continue` is always one of them."""
        return self.allows if CONTINUE.name in self.allows else (CONTINUE.name, *self.allows)
