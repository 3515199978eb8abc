"""A query for calls."""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.model.call import CallStatus


@dataclass(frozen=True)
class CallQuery:
    """Conditions that the calls meet. `below` and `above` are exclusive bounds of their numbers."""

    functions: frozenset[int] | None = None
    session_id: str | None = None
    status: CallStatus | None = None
    call_type: str | None = None
    cid: str | None = None
    below: int | None = None
    above: int | None = None

    @property
    def bounds(self) -> tuple[int, int]:
        low = self.above if self.above is not None else -1
        return low, self.below if self.below is not None else 2**63 - 1
