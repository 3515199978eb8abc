"""Who is told at once what happens in a session: a face that shows it live."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from holdfast.model.records import EventRecord


class SessionObserver:
    """By default it does nothing. The methods are called in the event loop and must not block."""

    def on_event(self, event: EventRecord) -> None:
        """Something happened; the events are those of `wire/event_types.py`."""

    def on_output(self, kind: str, text: str, place: Mapping[str, Any]) -> None:
        """The program wrote to `stdout` or `stderr`, or a logpoint wrote (`log`, with a place)."""

    def on_thread(self, thread_id: int, is_started: bool) -> None:
        """A thread of the program has started, or has ended."""

    def on_closed(self) -> None:
        """The session is gone: it was deleted, or it expired."""


class ObserverList:
    """The observers of one session."""

    def __init__(self) -> None:
        self._observers: list[SessionObserver] = []

    def add(self, observer: SessionObserver) -> Callable[[], None]:
        """Tell this observer from now on. The function that is returned ends that."""
        self._observers.append(observer)

        def remove() -> None:
            if observer in self._observers:
                self._observers.remove(observer)

        return remove

    def __iter__(self) -> Iterator[SessionObserver]:
        """All of them; one may leave meanwhile."""
        return iter(tuple(self._observers))
