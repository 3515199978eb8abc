"""Watches whose value is looked at again while a frame runs, line by line.

A list that grows, an object that changes, an expression: no write to the place tells of these. So
they are compared at the lines of a *root* frame and of the functions that it calls, and at their
ends. `code_watch` and `trace_watch` get these events from the interpreter, each in its own way.
When a root ends, its caller becomes the root, unless what is watched ends with the frame.
"""

from __future__ import annotations

import os
from _thread import get_ident
from typing import Any, Dict, List, Optional, Tuple

from . import data_stops
from .data_stops import BUSY
from .pydevd_access import is_ours

_MAX_LINES = 10_000  # frames to remember the last line of; generators may be left half way
_LIBRARY = os.path.realpath(os.path.dirname(os.__file__)) + os.sep


def is_user_code(code: Any) -> bool:
    name = code.co_filename
    return not (name.startswith(("<frozen", _LIBRARY)) or "site-packages" in name or is_ours(name))


class Scanner:
    """What is looked at, and the line that each frame was last at."""

    def __init__(self) -> None:
        self.watches: Tuple[Any, ...] = ()
        self._roots: Dict[Any, Any] = {}
        self._lines: Dict[int, int] = {}  # by the id of a frame

    # -- what each way of getting events does ---------------------------------------------------

    def begin(self, frame: Any) -> None:
        """Have this frame's lines looked at from now on."""
        raise NotImplementedError

    def finish(self) -> None:
        """Nothing is to be looked at any more."""
        raise NotImplementedError

    # -- the watches ----------------------------------------------------------------------------

    def add(self, watch: Any, frame: Any) -> None:
        if watch not in self.watches:
            self.watches = (*self.watches, watch)
        if self._roots.get(watch) is None and frame is not None:
            self._roots[watch] = frame
        if frame is not None:
            self._lines.setdefault(id(frame), frame.f_lineno)
            self.begin(frame)

    def remove(self, watch: Any) -> None:
        self._roots.pop(watch, None)
        self.watches = tuple(other for other in self.watches if other is not watch)
        if not self.watches:
            self._lines.clear()
            self.finish()

    # -- events ---------------------------------------------------------------------------------

    def look(self, frame: Any, line: Optional[int]) -> None:
        """A frame is about to run a line; without one, it is somewhere on the line it was on."""
        before = self._lines.get(id(frame))
        if line is not None:
            self._remember(frame, line)
        ident = get_ident()
        if ident in BUSY:
            return
        hits = self.find_hits(frame, before)
        if hits:
            data_stops.stop(frame, hits, before)

    def find_hits(self, frame: Any, line: Optional[int]) -> List[Any]:
        """What has changed since the last look, and stops the program here."""
        ident = get_ident()
        if ident in BUSY:
            return []
        changes = []
        BUSY.add(ident)  # reading an expression may run code that is looked at, too
        try:
            for watch in self.watches:
                if watch.find_last_store(frame) is not None:
                    continue  # which is told of at the instruction that comes now
                change = watch.look()
                if change is not None and not watch.is_quiet(change.old, change.new):
                    changes.append((watch, change))
        finally:
            BUSY.discard(ident)
        if not changes or not data_stops.may_stop(frame):
            return []
        found = [watch.decide(change, frame, line) for watch, change in changes]
        return [hit for hit in found if hit is not None]

    def _remember(self, frame: Any, line: int) -> None:
        if len(self._lines) > _MAX_LINES:
            self._lines.clear()
        self._lines[id(frame)] = line

    def last_line(self, frame: Any) -> Optional[int]:
        return self._lines.get(id(frame))

    def forget_frame(self, frame: Any) -> None:
        """It has ended: its caller is the root of what is not bound to it."""
        self._lines.pop(id(frame), None)
        orphans = [watch for watch, root in self._roots.items() if root is frame]
        for watch in orphans:
            if watch.place.is_bound_to_frame:
                continue  # which ends with it
            caller = find_caller(frame)
            self._roots[watch] = caller
            if caller is not None:
                self._lines.setdefault(id(caller), caller.f_lineno)
                self.begin(caller)


def find_caller(frame: Any) -> Optional[Any]:
    """The next frame of the program that a frame returns to."""
    caller = frame.f_back
    while caller is not None and is_ours(caller.f_code.co_filename):
        if caller.f_code.co_name == "_exec":
            return None  # below are only the frames that started the program
        caller = caller.f_back
    return caller
