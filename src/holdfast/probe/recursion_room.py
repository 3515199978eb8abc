"""Room for the debugger where a program is at its recursion limit.

The functions that Python calls for each event need a level or more of the stack themselves. At the
limit there is none. Before 3.12 the failing call even ends the tracing of the thread. So, while
threads are traced there, the real limit is higher than the one that the program knows, and a
`DepthGauge` takes the difference away again while a frame at the program's own limit runs: its
next call fails as without a debugger. From 3.12 on the limit is raised for a call that failed.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any, Callable, Optional, Set

ROOM = 400  # levels: for pydevd to stop a thread, and for expressions that are evaluated there
_NO_LIMIT = 2**31 - 2
_DEPTH_OFFSET = 32  # of the counter in CPython's PyThreadState, in 3.9, 3.10 and 3.11
_EDGE = 6  # frames below the limit that are watched, to return the room to the one that failed
COUNTS_DOWN = sys.version_info >= (3, 11)

UNKNOWN_DEPTH = ctypes.c_int(-1 if COUNTS_DOWN else 2**31 - 1)  # seems to be at the limit
FAR_FROM_LIMIT = ROOM - 2 + _EDGE  # a counter that goes down is above this

_api = ctypes.PyDLL(None)  # an object of our own: the types of its functions are not everybody's
_get_own_state = _api.PyThreadState_Get
_get_own_state.argtypes, _get_own_state.restype = [], ctypes.c_void_p
_set_real_limit = _api.Py_SetRecursionLimit
_set_real_limit.argtypes, _set_real_limit.restype = [ctypes.c_int], None


class RecursionRoom:
    """Whether the real limit is higher than the program's, and by how much."""

    def __init__(self) -> None:
        self.levels = 0
        self._originals: Any = None
        self.high = _NO_LIMIT  # a counter that goes up is below this, far from the limit

    def open(self) -> None:
        if self.levels or not _can_read_depth():
            return
        get_limit, set_limit = sys.getrecursionlimit, sys.setrecursionlimit
        self._originals = get_limit, set_limit
        self.levels = ROOM
        self._note_limit(get_limit())
        _set_real_limit(get_limit() + ROOM)

        def getrecursionlimit() -> int:
            return get_limit() - self.levels

        def setrecursionlimit(limit: int, /) -> None:
            set_limit(limit)  # which raises what Python raises
            set_limit(limit + self.levels)
            self._note_limit(limit)

        sys.getrecursionlimit = getrecursionlimit
        sys.setrecursionlimit = setrecursionlimit

    def close(self) -> None:
        if not self.levels:
            return
        get_limit, set_limit = self._originals
        _set_real_limit(get_limit() - self.levels)
        self.levels = 0
        self.high = _NO_LIMIT
        if getattr(sys.getrecursionlimit, "__globals__", None) is globals():
            sys.getrecursionlimit = get_limit
        if getattr(sys.setrecursionlimit, "__globals__", None) is globals():
            sys.setrecursionlimit = set_limit

    def _note_limit(self, limit: int) -> None:
        self.high = limit + 2 - _EDGE

    def is_at_limit(self, count: int) -> bool:
        """Whether a frame may call nothing more; a function that it called has read this count."""
        if not self.levels:
            return False
        return count < ROOM if COUNTS_DOWN else count >= self.high - 1 + _EDGE


REAL_ROOM = RecursionRoom()


class DepthGauge:
    """How deep one thread is; used only in that thread, by the function called for each call."""

    def __init__(self) -> None:
        self.counter = _own_depth()
        self.removed = 0  # what to add to the counter to return the room

    def is_at_limit(self, count: int) -> bool:
        """Whether the frame is whose call event is handled; `count` was read by the handler."""
        count += self.removed
        self.counter.value += self.removed
        self.removed = 0
        return REAL_ROOM.is_at_limit(count)

    def remove_room(self) -> None:
        self.removed = REAL_ROOM.levels if COUNTS_DOWN else -REAL_ROOM.levels
        self.counter.value -= self.removed


def _own_depth() -> Any:
    """The counter that is compared with the recursion limit, for the current thread."""
    return ctypes.c_int.from_address(_get_own_state() + _DEPTH_OFFSET)


def _can_read_depth() -> bool:
    """Whether the counter is where we expect it: a call must change it by one."""
    if not (3, 9) <= sys.version_info < (3, 12) or sys.implementation.name != "cpython":
        return False
    counter = _own_depth()

    def read(depth: int) -> int:
        return read(depth - 1) if depth else counter.value

    step = -1 if COUNTS_DOWN else 1
    first = read(0)
    return 0 < first < 2**30 and [read(1), read(2)] == [first + step, first + 2 * step]


def with_room(callback: Optional[Callable[..., Any]]) -> Optional[Callable[..., Any]]:
    """The same callback of `sys.monitoring`; one that runs out of stack runs again with room."""
    if callback is None:
        return None

    def guarded(*args: Any) -> Any:
        try:
            return callback(*args)
        except RecursionError:
            limit = sys.getrecursionlimit()  # there may be room for functions in C only
            _set_real_limit(limit + ROOM)
            try:
                return callback(*args)
            finally:
                if sys.getrecursionlimit() == limit + ROOM:  # or the program has set another
                    _set_real_limit(limit)

    GUARDS.add(guarded.__code__)
    return guarded


GUARDS: Set[Any] = set()  # the code of `guarded`


def get_frame(depth: int = 0) -> Any:
    """As `sys._getframe`, but `with_room` does not count."""
    frame: Any = sys._getframe(1)
    while depth and frame is not None:
        frame = frame.f_back
        if frame is not None and frame.f_code not in GUARDS:
            depth -= 1
    if frame is None:
        raise ValueError("call stack is not deep enough")
    return frame
