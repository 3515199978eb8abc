"""Runs coroutines on an event loop of another thread, and gives Futures that never hang.

Every Future that is not done when the loop ends fails at once. One that is waited for in the loop's
own thread, where it could never become done, raises instead.
"""

from __future__ import annotations

import asyncio
import functools
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, InvalidStateError
from typing import Any, Concatenate, ParamSpec, TypeVar

T = TypeVar("T")
Owner = TypeVar("Owner")
Parameters = ParamSpec("Parameters")
NOT_RUNNING = "adapter not running"
_FORKED = (
    "adapter not running: it belongs to the process {pid}, of which this one is a fork. "
    "Start an adapter in this process."
)
_OWN_THREAD = (
    "this would wait for itself: it is called in the adapter's own thread, in a callback of a "
    "Future. Await the async_ method there, or wait in another thread."
)


class LoopFuture(Future[T]):
    """A Future of something that runs on the loop of `calls`."""

    def __init__(self, calls: LoopCalls) -> None:
        super().__init__()
        self._calls = calls

    def result(self, timeout: float | None = None) -> T:
        self._refuse_own_thread()
        return super().result(timeout)

    def exception(self, timeout: float | None = None) -> BaseException | None:
        self._refuse_own_thread()
        return super().exception(timeout)

    def _refuse_own_thread(self) -> None:
        if self._calls.is_own_thread() and not self.done():
            raise RuntimeError(_OWN_THREAD)


class LoopCalls:
    """The way from any thread onto one loop. Without a loop it refuses everything."""

    def __init__(self, loop: asyncio.AbstractEventLoop | None = None) -> None:
        self._loop = loop
        self._pid = os.getpid()
        self._home = loop  # also after `close`
        self._lock = threading.Lock()
        self._outstanding: set[Future[Any]] = set()

    @property
    def is_open(self) -> bool:
        loop = self._loop
        return loop is not None and loop.is_running() and os.getpid() == self._pid

    def is_own_thread(self) -> bool:
        """Whether this is the thread of the loop."""
        try:
            return asyncio.get_running_loop() is self._home
        except RuntimeError:  # no loop runs here
            return False

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Run it on the loop. Calls of one thread begin in the order in which they are made."""
        future: Future[T] = LoopFuture(self)
        refusal = self._try_submit(future, work)
        if refusal is not None:
            work.close()
            _settle(future, RuntimeError(refusal))
        return future

    def fail(self, problem: Exception) -> Future[Any]:
        """The Future of a call that cannot be made, because of `problem`."""
        future: Future[Any] = LoopFuture(self)
        future.set_exception(problem)
        return future

    def close(self) -> None:
        """Refuse what comes from now on, and end what is under way."""
        if os.getpid() != self._pid:
            return  # the lock may be held for ever, by a thread that a fork does not have
        with self._lock:
            self._loop = None
            outstanding, self._outstanding = self._outstanding, set()
        for future in outstanding:
            _settle(future, RuntimeError(NOT_RUNNING))

    def _try_submit(self, future: Future[T], work: Coroutine[Any, Any, T]) -> str | None:
        """Begin the call; otherwise the reason why it cannot begin."""
        if os.getpid() != self._pid:
            return _FORKED.format(pid=self._pid)
        with self._lock:
            loop = self._loop
            if loop is None or not loop.is_running():
                return NOT_RUNNING
            try:
                loop.call_soon_threadsafe(self._begin, loop, future, work)
            except RuntimeError:  # the loop was closed just now
                return NOT_RUNNING
            self._outstanding.add(future)
        return None

    def _begin(
        self, loop: asyncio.AbstractEventLoop, future: Future[T], work: Coroutine[Any, Any, T]
    ) -> None:
        if future.done():
            work.close()
            self._forget(future)
            _note_cancelled(future)
            return
        task = loop.create_task(work)

        def cancel_task(_future: Future[T]) -> None:
            _note_cancelled(future)
            if not task.done() and not loop.is_closed():
                loop.call_soon_threadsafe(task.cancel)

        future.add_done_callback(cancel_task)
        task.add_done_callback(lambda _task: self._finish(future, task))

    def _finish(self, future: Future[T], task: asyncio.Task[T]) -> None:
        self._forget(future)
        if task.cancelled():
            _settle(future, RuntimeError(NOT_RUNNING))
            return
        problem = task.exception()
        if problem is not None:
            _settle(future, problem)
            return
        try:
            future.set_result(task.result())
        except InvalidStateError:
            pass  # it was cancelled, or ended by `close`, meanwhile

    def _forget(self, future: Future[Any]) -> None:
        with self._lock:
            self._outstanding.discard(future)


def _settle(future: Future[Any], problem: BaseException) -> None:
    try:
        future.set_exception(problem)
    except InvalidStateError:
        pass  # it was cancelled, or has its result, meanwhile


def _note_cancelled(future: Future[Any]) -> None:
    """Wake those who wait for a cancelled Future among others."""
    if future.cancelled():
        try:
            future.set_running_or_notify_cancel()
        except (InvalidStateError, RuntimeError):
            pass  # they are awake already


def awaitable(
    method: Callable[Concatenate[Owner, Parameters], Future[T]],
) -> Callable[Concatenate[Owner, Parameters], Coroutine[Any, Any, T]]:
    """The twin of a method that returns a Future: to be awaited, in any event loop."""

    @functools.wraps(method)
    async def call(owner: Owner, /, *args: Parameters.args, **options: Parameters.kwargs) -> T:
        return await asyncio.wrap_future(method(owner, *args, **options))

    call.__name__ = f"async_{method.__name__}"
    return call
