"""The ids of frames: 0 and up for the thread that a session shows, a block for each other thread.

The small ids always mean the stop that is shown now. The ids in a block belong to their thread, and
stay what they are until it runs, whatever the other threads do meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

_BLOCK_SIZE = 1_000_000


@dataclass(frozen=True, slots=True)
class FramePlace:
    """Where the program finds a frame."""

    thread: int
    depth: int
    mark: str | None = None
    """What the frame was recognized by. Without it, the thread must be held."""


@dataclass(slots=True)
class _Block:
    number: int
    is_held: bool
    marks: dict[int, str] = field(default_factory=dict)


class FrameIds:
    def __init__(self) -> None:
        self._blocks: dict[int, _Block] = {}
        self._used = 0

    def assign(
        self, thread: int, start: int, marks: Sequence[str], *, is_held: bool
    ) -> Sequence[int]:
        """Ids for these frames of a thread, from depth `start` on; the same ones as before if
        none of them has moved."""
        block = self._blocks.get(thread)
        found = dict(enumerate(marks, start))
        if block is None or any(block.marks.get(d, mark) != mark for d, mark in found.items()):
            self._used += 1
            block = self._blocks[thread] = _Block(self._used, is_held)
        block.is_held = is_held
        block.marks.update(found)
        first = block.number * _BLOCK_SIZE + start
        return range(first, first + len(marks))

    def find(self, frame_id: int) -> FramePlace | None:
        """The place of a frame in a block, if its thread has not run since."""
        number, depth = divmod(frame_id, _BLOCK_SIZE)
        for thread, block in self._blocks.items():
            if block.number == number and depth in block.marks:
                return FramePlace(thread, depth, block.marks[depth])
        return None

    @property
    def is_empty(self) -> bool:
        return not self._blocks

    def forget(self, thread: int) -> None:
        """This thread runs, or has ended."""
        self._blocks.pop(thread, None)

    def forget_held(self) -> None:
        """All threads that were held run. The others go on as before; their marks tell more."""
        self._blocks = {
            thread: block for thread, block in self._blocks.items() if not block.is_held
        }

    def clear(self) -> None:
        self._blocks.clear()


def is_small(frame_id: int) -> bool:
    """Whether this is an id of the thread that the session shows."""
    return 0 <= frame_id < _BLOCK_SIZE


def to_arguments(place: FramePlace) -> dict[str, Any]:
    """The frame's place, as the probe's operations take it."""
    return {"thread": place.thread, "depth": place.depth, "mark": place.mark}
