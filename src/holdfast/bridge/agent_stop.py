"""A stop: one thread or task of the loop, waiting for the one decision that ends it."""

from __future__ import annotations

import asyncio
import threading
import time
from dataclasses import dataclass, field
from typing import Any

from holdfast.bridge.hold_decision import HoldDecision
from holdfast.core.call_parameters import CallParameters
from holdfast.model.agent_events import MAIN, Paused


@dataclass(eq=False)
class Stop:
    id: str
    at: str
    allows: tuple[str, ...]
    about: Paused
    """The fields of its `paused` event."""
    tool_id: str | None = None
    call: Any = None
    """The call of a model that it holds."""
    decision: HoldDecision | None = None
    parameters: CallParameters | None = None
    """What the call takes, if it is known."""
    began: float = field(default_factory=time.perf_counter)
    """Before it is announced, so that no time that it is held is left out."""
    timer: threading.Timer | None = None
    """Decides it when its rule says so, if nobody has."""
    _reached: threading.Event = field(default_factory=threading.Event)
    _waiter: tuple[asyncio.AbstractEventLoop, asyncio.Future[None]] | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def lane(self) -> str:
        return self.about.get("lane", MAIN)

    def decide(self, decision: HoldDecision) -> None:
        with self._lock:
            self.decision = decision
            waiter = self._waiter
            self._reached.set()
        if waiter is not None:
            loop, future = waiter
            try:
                loop.call_soon_threadsafe(_wake, future)
            except RuntimeError:
                pass  # the loop is closed: nobody waits any more

    def wait(self) -> HoldDecision:
        self._reached.wait()
        assert self.decision is not None
        return self.decision

    async def wait_async(self) -> HoldDecision:
        loop = asyncio.get_running_loop()
        with self._lock:
            future: asyncio.Future[None] = loop.create_future()
            self._waiter = (loop, future)
            is_decided = self.decision is not None
        if not is_decided:
            await future
        assert self.decision is not None
        return self.decision


def _wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
