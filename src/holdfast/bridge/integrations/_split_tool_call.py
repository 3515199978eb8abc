"""A tool call of which a framework tells the beginning and the end separately.

The bridge wants one function that does it all: here it waits, in a task of its own, until the
framework is ready to run the tool, or says how it went.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

from holdfast.bridge import Bridge
from holdfast.bridge.agent_calls import ToolCall

Perform = Callable[[dict[str, Any]], Awaitable[Any]]


class SplitCall:
    def __init__(self, dbg: Bridge, call: ToolCall) -> None:
        loop = asyncio.get_running_loop()
        self.input: dict[str, Any] | None = None
        """What to run it with; None if it must not run, and `outcome` says what instead."""
        self._begun: asyncio.Future[None] = loop.create_future()
        self._performer: asyncio.Future[Perform] = loop.create_future()
        self._task = loop.create_task(dbg.acall_tool(call, self._run))

    async def _run(self, given: dict[str, Any]) -> Any:
        self.input = given
        self._begun.set_result(None)
        perform = await self._performer
        return await perform(given)

    async def begin(self) -> None:
        """Returns when it is not held any more."""
        try:
            await asyncio.wait({self._begun, self._task}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            await self.withdraw()
            raise

    def perform_with(self, perform: Perform) -> None:
        """Now it runs, in this way."""
        if not self._performer.done():
            self._performer.set_result(perform)

    async def outcome(self) -> Any:
        """What it gives, or raises: by itself, by a decision, or in the recording."""
        return await self._task

    async def wait(self) -> None:
        """Waits until it is over, however it went."""
        await asyncio.wait({self._task})
        if not self._task.cancelled():
            self._task.exception()  # asked for: nobody misses it

    async def withdraw(self) -> None:
        """Nobody waits for it any more."""
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self.wait()
