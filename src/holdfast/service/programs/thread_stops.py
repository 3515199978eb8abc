"""The threads of a paused program, beside the one that the session shows.

A session shows one stop at a time, and what its client looks at stays what it is until that thread
runs. Another thread that stops meanwhile stands beside it until its turn comes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from holdfast.model.location import Location
from holdfast.model.stop import Stop


@dataclass
class ThreadStops:
    beside: dict[int, Stop] = field(default_factory=dict)
    """Stops of other threads, in the order in which they came."""
    released: set[int] = field(default_factory=set)
    """Threads that were let go one by one, while the others are held."""
    seen: set[int] = field(default_factory=set)
    """Threads that somebody was shown at their stop."""
    stepping: int | None = None
    """The thread whose step the others wait for."""

    def shown(self, stop: Stop) -> None:
        """This stop is the one that the session shows now."""
        self.beside.pop(stop.thread_id, None)
        self.released.discard(stop.thread_id)
        self.seen.add(stop.thread_id)
        self.stepping = None

    def step(self, thread: int, shown: Stop) -> None:
        """One thread steps. The others run along, unless each stops for itself."""
        if shown.all_threads_stopped:
            self.clear()
            return
        if shown.thread_id != thread:
            self.beside[shown.thread_id] = shown
        self.beside.pop(thread, None)
        self.seen.discard(thread)
        self.stepping = thread

    def release(self, thread: int) -> None:
        self.beside.pop(thread, None)
        self.seen.discard(thread)
        self.released.add(thread)

    def clear(self) -> None:
        self.beside.clear()
        self.released.clear()
        self.seen.clear()
        self.stepping = None

    def unseen(self) -> Stop | None:
        """A stop that nobody was shown yet."""
        found = (stop for thread, stop in self.beside.items() if thread not in self.seen)
        return next(found, None)

    def next(self) -> Stop | None:
        return next(iter(self.beside.values()), None)


def held_with(stop: Stop, held: list[dict[str, Any]]) -> Stop:
    """The stop of the first thread that another's stop holds."""
    first = held[0]
    place, points = first.get("location"), first.get("breakpoints") or ()
    return Stop(
        thread_id=first["id"],
        reason="breakpoint" if points else "pause",
        location=Location(**place) if place else None,
        threads=tuple(held),
        breakpoints=tuple((f"bp_{number}", 0) for number in points),
        all_threads_stopped=stop.all_threads_stopped,
    )
