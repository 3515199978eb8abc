"""Which sessions have changed, in the order of their last change.

A change is whatever a list of sessions would show: an event, another status, output, recorded
calls, the end of the session. Only that there was one is kept, and only the last one of each
session, so a session that writes a million lines costs as much as one that writes a line.
"""

from __future__ import annotations

from collections import OrderedDict

from holdfast.service.waitable import Waitable

_MAX_REMEMBERED = 10_000


class SessionChanges(Waitable):
    """`count` counts every change. Whoever waits here is woken by the next one."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0
        self._last: OrderedDict[str, int] = OrderedDict()  # the last change of each session
        self._forgotten = 0  # the number of the last change that was forgotten

    def note(self, session_id: str) -> None:
        """Note that a session has changed, is new, or is gone."""
        self.count += 1
        self._last[session_id] = self.count
        self._last.move_to_end(session_id)
        if len(self._last) > _MAX_REMEMBERED:
            _, self._forgotten = self._last.popitem(last=False)
        if self._waiters:
            self.wake()

    def knows_after(self, count: int) -> bool:
        """Whether every session that changed after that is still known."""
        return self._forgotten <= count <= self.count

    def list_after(self, count: int) -> list[str]:
        """The sessions that changed after that, as far as they are known; the newest first."""
        found = []
        for session_id in reversed(self._last):
            if self._last[session_id] <= count:
                break
            found.append(session_id)
        return found
