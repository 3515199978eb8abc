"""Lets requests wait until a condition holds."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import ContextVar

from holdfast.service.clock import read_clock

CLIENT_DISCONNECT: ContextVar[asyncio.Future[None] | None] = ContextVar("caller", default=None)
"""Done when the client of the current request has disconnected."""


def client_disconnected() -> bool:
    """Whether the client of the current request has disconnected."""
    caller = CLIENT_DISCONNECT.get()
    return caller is not None and caller.done()


class Waitable:
    """Requests wait here. Each change wakes them all; each checks its condition again."""

    def __init__(self) -> None:
        self.stopping = False
        self._waiters: set[asyncio.Future[None]] = set()

    def wake(self) -> None:
        waiters, self._waiters = self._waiters, set()
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)

    async def wait_until(self, reached: Callable[[], bool], seconds: float) -> bool:
        """Wait until the condition holds. False if time is up, or the client has disconnected."""
        caller = CLIENT_DISCONNECT.get()
        if caller is None:
            return await self._wait_until(reached, seconds)
        caller.add_done_callback(self._wake_one)
        try:
            return await self._wait_until(lambda: reached() or caller.done(), seconds) and reached()
        finally:
            caller.remove_done_callback(self._wake_one)

    def _wake_one(self, _caller: asyncio.Future[None]) -> None:
        self.wake()

    async def _wait_until(self, reached: Callable[[], bool], seconds: float) -> bool:
        deadline = read_clock() + seconds
        while not reached() and not self.stopping:
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiters.add(waiter)
            try:
                await asyncio.wait_for(waiter, max(0.0, deadline - read_clock()))
            except asyncio.TimeoutError:
                return reached()
            finally:
                self._waiters.discard(waiter)
        return reached()

    def stop_waiting(self) -> None:
        """End all waiting, because the server stops."""
        self.stopping = True
        self.wake()
