"""An event loop whose clock stands still until a test turns it.

Descriptors and threads wake it as they wake any loop. Timers fire in `turn` alone, in their order,
and what one of them sets off is done before the next one fires.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import selectors
from collections.abc import Callable
from typing import Any

_GUARD_SECONDS = 60.0


class OnlyTimersLeft(AssertionError):
    """Nothing but the clock could go on, and nobody turned it."""


class _Selector(selectors.DefaultSelector):
    """Waits for descriptors. It never waits for a timer, whose time does not come by waiting."""

    found = False
    describe_timers: Callable[[], str] = staticmethod(lambda: "")

    def select(self, timeout: float | None = None) -> Any:
        waits = timeout is None or timeout > 0
        events = super().select(_GUARD_SECONDS if waits else 0)
        self.found = bool(events)
        if waits and not events:
            raise OnlyTimersLeft(f"nothing happened; these timers wait: {self.describe_timers()}")
        return events


class HeldLoop(asyncio.SelectorEventLoop):
    """An event loop with a clock that a test turns."""

    def __init__(self) -> None:
        self._now = 1000.0
        self._jobs: set[asyncio.Future[Any]] = set()
        self.find_write: Callable[[], concurrent.futures.Future[Any] | None] = lambda: None
        """The last write that a thread of the store has to carry out."""
        self._held_selector = _Selector()
        super().__init__(self._held_selector)
        self._held_selector.describe_timers = lambda: repr(self._timers())

    def time(self) -> float:
        return self._now

    def run_in_executor(  # type: ignore[override]
        self, executor: Any, func: Callable[..., Any], *args: Any
    ) -> Any:
        """As usual. A turn of the clock waits for what threads do, for that takes no time here."""
        job = super().run_in_executor(executor, func, *args)
        self._jobs.add(job)
        job.add_done_callback(self._jobs.discard)
        return job

    def turn(self, seconds: float) -> None:
        """Let this much time pass. The loop must not be running."""
        end = self._now + seconds
        self.settle()
        while (when := min((timer.when() for timer in self._timers()), default=end + 1)) <= end:
            self._now = max(self._now, when)
            self.settle()
        self._now = end

    def settle(self) -> None:
        """Do all that can be done without the clock."""
        while True:
            self.call_soon(self.stop)
            self.run_forever()
            if self._ready or self._held_selector.found:  # type: ignore[attr-defined]
                continue
            write = self.find_write()
            if self._jobs:
                self.run_until_complete(asyncio.wait(self._jobs, return_when="FIRST_COMPLETED"))
            elif write is not None and not write.done():
                self.run_until_complete(asyncio.wait([asyncio.wrap_future(write, loop=self)]))
            else:
                return

    def _timers(self) -> list[asyncio.TimerHandle]:
        scheduled: list[asyncio.TimerHandle] = self._scheduled  # type: ignore[attr-defined]
        return [timer for timer in scheduled if not timer.cancelled()]
