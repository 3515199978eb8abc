"""A write that a store has accepted."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from concurrent.futures import Future
from typing import Any


class PendingWrite(Future[None]):
    """Accepted, in order, and carried out whether or not anybody waits for it.

    `await` returns when it is committed, or raises the `StoreProblem` that prevented it. A waiter
    that is cancelled does not cancel the write. `add_done_callback` calls back on any thread.
    """

    def __init__(self) -> None:
        super().__init__()
        self.set_running_or_notify_cancel()  # from now on nobody can cancel it

    def __await__(self) -> Generator[Any, None, None]:
        return asyncio.wrap_future(self).__await__()
