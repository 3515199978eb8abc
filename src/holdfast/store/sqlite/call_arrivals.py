"""Which calls were added or changed last, in the order in which that happened.

The numbers of calls follow the times at which they began. Calls of a leased application come later
than that, so whoever wants to miss none of them asks what arrived.
"""

from __future__ import annotations

import threading
from array import array
from collections.abc import Iterable

from holdfast.store.interface import CALLS_TOPIC, Bell

KEPT = 100_000


class CallArrivals:
    """Remembers at least the last KEPT arrivals. Every method may be called on any thread."""

    def __init__(self, bell: Bell) -> None:
        self._bell = bell
        self._lock = threading.Lock()
        self._numbers = array("q")
        self.count = 0

    def add(self, numbers: Iterable[int]) -> None:
        with self._lock:
            known = len(self._numbers)
            self._numbers.extend(numbers)
            self.count += len(self._numbers) - known
            if len(self._numbers) > 2 * KEPT:
                del self._numbers[:-KEPT]
        self._bell.ring(CALLS_TOPIC)

    def list_after(self, arrival: int, limit: int) -> list[int] | None:
        """The next `limit` after that arrival; None if some of them are forgotten."""
        with self._lock:
            first = arrival - (self.count - len(self._numbers))
            return None if first < 0 else self._numbers[first : first + limit].tolist()
