"""Threads that read recordings, apart from those that everything else is done in.

What nobody waits for any more is given up, and so is everything when the server stops. Equal
requests share one reading.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Hashable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from holdfast import errors
from holdfast.service.waitable import CLIENT_DISCONNECT, client_disconnected

_T = TypeVar("_T")
_Caller = asyncio.Future[None] | None


class ReadingGivenUp(Exception):
    """Nobody waits for what is read, or the server stops."""


class Reading:
    """Something that is read, as long as somebody waits for it."""

    result: asyncio.Future[Any]

    def __init__(self, stopping: threading.Event) -> None:
        self.callers: list[_Caller] = []
        """Those who wait: each is done when its client has disconnected."""
        self._stopping = stopping

    @property
    def is_given_up(self) -> bool:
        return self._stopping.is_set() or all(map(_is_gone, self.callers[:]))

    def check(self) -> None:
        """Raise ReadingGivenUp if it need not go on."""
        if self.is_given_up:
            raise ReadingGivenUp

    def follow(self, items: Iterable[_T]) -> Iterator[_T]:
        """The items, as long as it goes on."""
        for item in items:
            self.check()
            yield item


class ReadingThreads:
    def __init__(self, count: int = 1) -> None:
        self._executor = ThreadPoolExecutor(count, thread_name_prefix="holdfast-recordings")
        self._stopping = threading.Event()
        self._under_way: dict[Hashable, Reading] = {}

    async def run(self, key: Hashable, work: Callable[[Reading], _T]) -> _T:
        """What `work` gives. Whoever asks for the same `key` meanwhile gets the same."""
        caller = CLIENT_DISCONNECT.get()
        while not self._stopping.is_set():
            reading = self._join(key, work, caller)
            try:
                result: _T = await asyncio.shield(reading.result)
                return result
            except ReadingGivenUp:
                if client_disconnected():
                    raise
                # It ended just as this request joined it, so it begins anew; or the server stops.
            finally:
                reading.callers.remove(caller)
        raise errors.Overloaded("the server stops", hint="Ask again when it runs again.")

    def _join(self, key: Hashable, work: Callable[[Reading], Any], caller: _Caller) -> Reading:
        reading = self._under_way.get(key)
        if reading is not None and not reading.is_given_up:
            reading.callers.append(caller)
            return reading
        reading = self._under_way[key] = Reading(self._stopping)
        reading.callers.append(caller)
        loop = asyncio.get_running_loop()
        reading.result = loop.run_in_executor(self._executor, _read, reading, work)
        reading.result.add_done_callback(lambda result: self._end(key, reading, result))
        return reading

    def _end(self, key: Hashable, reading: Reading, result: asyncio.Future[Any]) -> None:
        if self._under_way.get(key) is reading:
            del self._under_way[key]
        if not result.cancelled():
            result.exception()  # there may be nobody left who looks at it

    def stop(self) -> None:
        """Give up everything, because the server stops."""
        self._stopping.set()

    def close(self) -> None:
        self.stop()
        self._executor.shutdown(wait=False, cancel_futures=True)


def _read(reading: Reading, work: Callable[[Reading], _T]) -> _T:
    reading.check()
    return work(reading)


def _is_gone(caller: _Caller) -> bool:
    return caller is not None and caller.done()
