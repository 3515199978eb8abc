"""The clock that every wait of the service goes by: that of the event loop, which fires the timers.

So a wait and the timer that ends it never disagree, and a test that holds the clock of its loop
holds all of them.
"""

from __future__ import annotations

import asyncio


def read_clock() -> float:
    """The seconds since some moment in the past."""
    return asyncio.get_running_loop().time()
