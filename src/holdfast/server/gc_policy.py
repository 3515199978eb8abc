"""When the server looks for garbage: now and then, instead of every few hundred objects.

Rows of calls come by the thousand and are no garbage, and looking for some among them takes a tenth
of the time that goes into them. So the collector is asked to look rarely. But sessions, connections
and tasks that are over refer to each other in circles, which only the collector can tell: a task
looks once a second if much is new, and rests a hundred times as long as that took. What there is
when the server begins stays for good and is not looked at again.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import time
from collections.abc import AsyncIterator

_THRESHOLDS = (50_000, 20, 20)
_EVERY_SECONDS = 1.0
_REST = 100
_MUCH = 2_000  # objects made and not put away since the last look


@contextlib.asynccontextmanager
async def tuned() -> AsyncIterator[None]:
    """Within this the collector is ours."""
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)
    looking = asyncio.create_task(_look())
    try:
        yield
    finally:
        looking.cancel()
        gc.set_threshold(*before)
        gc.unfreeze()


async def _look() -> None:
    pause = _EVERY_SECONDS
    while True:
        await asyncio.sleep(pause)
        young, *older = gc.get_count()
        if young >= _MUCH or any(older):
            began = time.perf_counter()
            gc.collect()
            pause = max(_EVERY_SECONDS, _REST * (time.perf_counter() - began))
