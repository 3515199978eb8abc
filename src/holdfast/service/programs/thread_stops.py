"""The stops of a program's other threads, beside the one that the session shows.

A session shows one stop at a time, and what its client looks at stays what it is until that thread
runs. Another thread that stops meanwhile waits until its turn comes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from holdfast.model.breakpoint import build_breakpoint_id
from holdfast.model.location import Location
from holdfast.model.stop import Described, Stop


@dataclass
class ThreadStops:
    waiting: dict[int, Stop] = field(default_factory=dict)
    """Stops of other threads, in the order in which they came."""
    released: set[int] = field(default_factory=set)
    """Threads that were let go one by one, while the others are held."""
    seen: set[int] = field(default_factory=set)
    """Threads whose stops a client has seen."""
    stepping: int | None = None
    """The thread whose step the others wait for."""

    def note_shown(self, stop: Stop) -> None:
        """This stop is the one that the session shows now."""
        self.waiting.pop(stop.thread_id, None)
        self.released.discard(stop.thread_id)
        self.seen.add(stop.thread_id)
        self.stepping = None

    def step(self, thread: int, current: Stop) -> None:
        """One thread steps. The others run too, unless threads are held one by one."""
        if current.all_threads_stopped:
            self.clear()
            return
        if current.thread_id != thread:
            self.waiting[current.thread_id] = current
        self.waiting.pop(thread, None)
        self.seen.discard(thread)
        self.stepping = thread

    def release(self, thread: int) -> None:
        self.waiting.pop(thread, None)
        self.seen.discard(thread)
        self.released.add(thread)

    def clear(self) -> None:
        self.waiting.clear()
        self.released.clear()
        self.seen.clear()
        self.stepping = None

    def find_unseen(self) -> Stop | None:
        """A stop that no client has seen yet."""
        unseen = (stop for thread, stop in self.waiting.items() if thread not in self.seen)
        return next(unseen, None)

    def get_first(self) -> Stop | None:
        return next(iter(self.waiting.values()), None)


def build_stop_of_held_thread(stop: Stop, held: Sequence[Described]) -> Stop:
    """Build the stop of the first thread that is held by the stop of another."""
    first = held[0]
    place, points = first.get("location"), first.get("breakpoints") or ()
    return Stop(
        thread_id=first["id"],
        reason="breakpoint" if points else "pause",
        location=Location(**place) if place else None,
        threads=tuple(held),
        breakpoints=tuple((build_breakpoint_id(number), 0) for number in points),
        all_threads_stopped=stop.all_threads_stopped,
    )
