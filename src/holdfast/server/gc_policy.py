"""Makes the garbage collector run about once a second, not after every few hundred new objects.

Calls create rows by the thousand, and rows are not garbage. With the default thresholds, the search
for cycles among them takes a tenth of the time. So the automatic collector is set to run rarely.
Finished sessions, connections and tasks do refer to each other in cycles, which only the collector
can free. A task collects once a second if there are many new objects, and then pauses a hundred
times as long as the collection took. Objects that exist at the start are frozen: never searched.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import time
from collections.abc import AsyncIterator

_THRESHOLDS = (50_000, 20, 20)
_MIN_PAUSE_SECONDS = 1.0
_PAUSE_PER_COLLECTION = 100
_MIN_NEW_OBJECTS = 2_000  # created and not freed since the last collection


@contextlib.asynccontextmanager
async def tune_collector() -> AsyncIterator[None]:
    """Apply this policy inside the block, and restore the thresholds after it."""
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)
    collector = asyncio.create_task(_collect_regularly())
    try:
        yield
    finally:
        collector.cancel()
        gc.set_threshold(*before)
        gc.unfreeze()


async def _collect_regularly() -> None:
    pause = _MIN_PAUSE_SECONDS
    while True:
        await asyncio.sleep(pause)
        young, *older = gc.get_count()
        if young >= _MIN_NEW_OBJECTS or any(older):
            began = time.perf_counter()
            gc.collect()
            duration = time.perf_counter() - began
            pause = max(_MIN_PAUSE_SECONDS, _PAUSE_PER_COLLECTION * duration)
