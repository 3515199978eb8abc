"""Deletes the oldest calls, and the values and stacks that only they used."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field

from holdfast import errors
from holdfast.service.calls.batch_recorder import BatchRecorder
from holdfast.service.calls.content_cache import ContentCache
from holdfast.service.calls.stack_cache import StackCache
from holdfast.service.settings import Settings
from holdfast.store import CallLog

_INTERVAL_SECONDS = 60.0
_MAX_STEP = 500
_PAUSE_SECONDS = 0.01
_BUSY_PAUSE_SECONDS = 0.2


@dataclass(eq=False)
class CallPruner:
    """Keeps `calls_kept` calls. Works in small steps, so that nobody waits for it."""

    _call_log: CallLog
    _contents: ContentCache
    _stacks: StackCache
    _batches: BatchRecorder
    _settings: Callable[[], Settings]
    _task: asyncio.Task[None] | None = field(default=None, init=False)
    _wanted: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    _is_closed: bool = field(default=False, init=False)

    def start(self) -> None:
        self._task = asyncio.create_task(self._run())

    def close(self) -> None:
        # Before 3.12 `wait_for` swallows a cancellation that comes together with what it waits for.
        self._is_closed = True
        if self._task is not None:
            self._task.cancel()

    def prune_soon(self) -> None:
        self._wanted.set()

    async def _run(self) -> None:
        while not self._is_closed:
            with contextlib.suppress(errors.NotStored):  # the store reports a full disk itself
                await self._prune_to(self._settings().calls_kept)
            self._wanted.clear()
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._wanted.wait(), _INTERVAL_SECONDS)

    async def _prune_to(self, kept: int) -> None:
        excess = await self._call_log.count_calls() - kept
        while excess > 0:
            step = min(excess, _MAX_STEP)
            dropped = await self._call_log.drop_oldest(step)
            if dropped is not None:
                while await self._contents.drop(dropped.cids) is None:  # noqa: ASYNC110
                    await asyncio.sleep(_BUSY_PAUSE_SECONDS)
                excess = excess - dropped.count if dropped.count == step else 0
            is_quiet = dropped is not None and self._call_log.is_idle
            await asyncio.sleep(_PAUSE_SECONDS if is_quiet else _BUSY_PAUSE_SECONDS)
        await self._prune_stacks()

    async def _prune_stacks(self) -> None:
        """Forget unused stacks first, then delete those that no call has used meanwhile."""
        unused = await self._call_log.unused_stacks()
        if unused:
            self._stacks.forget(unused)
            self._batches.forget_stacks(unused)
            await self._call_log.drop_stacks(unused)
