"""Threads that make the blocking requests of the screen."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from typing import Any, TypeVar

_COUNT = 3
T = TypeVar("T")
_Job = tuple[Callable[[], Any], "asyncio.Future[Any]", asyncio.AbstractEventLoop]


class RequestThreads:
    """A few threads that live as long as the screen.

    They are daemons, which those of asyncio are not: an expression that hangs in the program must
    not keep the screen from closing.
    """

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        for number in range(_COUNT):
            name = f"screen-request-{number}"
            threading.Thread(target=self._run, name=name, daemon=True).start()

    async def call(self, function: Callable[..., T], *args: Any, **options: Any) -> T:
        """The result of a function that blocks."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._jobs.put((lambda: function(*args, **options), future, loop))
        return await future

    def close(self) -> None:
        """Let the threads end when they have nothing to do."""
        for _ in range(_COUNT):
            self._jobs.put(None)

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            function, future, loop = job
            result, problem = None, None
            try:
                result = function()
            except Exception as raised:  # it is raised where the result is awaited
                problem = raised
            try:
                loop.call_soon_threadsafe(_settle, future, result, problem)
            except RuntimeError:  # the loop is closed: nobody awaits it any more
                return


def _settle(future: asyncio.Future[Any], result: Any, problem: Exception | None) -> None:
    if future.done():  # it was cancelled
        return
    if problem is None:
        future.set_result(result)
    else:
        future.set_exception(problem)
