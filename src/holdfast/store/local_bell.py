"""The bell of a store that one server has to itself."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable


class LocalBell:
    """Rings within this process. See `Bell` for what it guarantees."""

    def __init__(self) -> None:
        self._listeners: dict[str, list[_Listener]] = {}

    def ring(self, topic: str) -> None:
        for listener in self._listeners.get(topic, ()):
            listener.call()

    def subscribe(self, topic: str, callback: Callable[[], None]) -> Callable[[], None]:
        listener = _Listener(callback)
        # Lists are replaced, never changed, because `ring` may be iterating over one.
        self._listeners[topic] = [*self._listeners.get(topic, ()), listener]

        def unsubscribe() -> None:
            rest = [other for other in self._listeners.get(topic, ()) if other is not listener]
            if rest:
                self._listeners[topic] = rest
            else:
                self._listeners.pop(topic, None)

        return unsubscribe


class _Listener:
    def __init__(self, callback: Callable[[], None]) -> None:
        self._callback = callback
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()

    def call(self) -> None:
        if threading.get_ident() == self._thread:
            self._callback()
        else:
            self._loop.call_soon_threadsafe(self._callback)
