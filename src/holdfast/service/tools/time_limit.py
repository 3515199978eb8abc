"""How much time a call of a tool has left."""

from __future__ import annotations

from holdfast.service.clock import read_clock


class TimeLimit:
    """Counts down from the moment that it is made."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = read_clock() + seconds

    @property
    def left(self) -> float:
        """How many seconds are left, and 0 when time is up."""
        return max(0.0, self._end - read_clock())

    @property
    def is_over(self) -> bool:
        return self.left == 0.0
