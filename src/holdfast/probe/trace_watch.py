"""Watching frames while they run, before Python 3.12: through the tracing that is there anyway.

`frame_tracer` calls us after its own work at each event of a frame that is watched. Values are
compared there, so a write is noticed at the next line of its frame, and reported with the line
before. Where a value can change in place, frames that a watched one calls are watched as well.
"""

from __future__ import annotations

import contextlib
import opcode
import sys
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from . import code_stores
from .frame_scans import Scanner, is_user_code


class TraceWatch(Scanner):
    """The frames that are watched."""

    def __init__(self) -> None:
        super().__init__()
        self._frames: Dict[int, Any] = {}
        self._ends: Dict[int, List[Callable[[Any], None]]] = {}
        self._globals: Tuple[Tuple[Any, int, str], ...] = ()  # a watch, its module's dict, a name
        self._stops: Dict[int, List[Any]] = {}  # by the id of a frame that is to stop

    @property
    def is_active(self) -> bool:
        return bool(self._frames or self._globals)

    # -- what is wanted -------------------------------------------------------------------------

    def begin(self, frame: Any) -> None:
        if id(frame) not in self._frames:
            self._frames[id(frame)] = frame
            _OBSERVERS["change"](frame)

    def finish(self) -> None:
        self._frames.clear()
        _OBSERVERS["change"](None)

    def follow_end(self, frame: Any, end: Callable[[Any], None]) -> Callable[[], None]:
        number = id(frame)
        self._ends.setdefault(number, []).append(end)
        self.begin(frame)

        def restore() -> None:
            ends = self._ends.get(number, [])
            if end in ends:
                ends.remove(end)
            if not ends:
                self._ends.pop(number, None)

        return restore

    def watch_global(self, watch: Any, names: Any, name: str) -> Callable[[], None]:
        """Have the frames looked at whose code stores this global."""
        entry = (watch, id(names), name)
        self._globals = (*self._globals, entry)
        if watch not in self.watches:
            self.watches = (*self.watches, watch)
        _OBSERVERS["change"](None)

        def restore() -> None:
            self._globals = tuple(other for other in self._globals if other is not entry)

        return restore

    def expect_stop(self, stop: Any) -> None:
        """Stop at the next event of a frame."""
        self._stops.setdefault(id(stop.frame), []).append(stop)
        self.begin(stop.frame)

    def _needs(self, frame: Any) -> bool:
        """Whether a frame is watched for more than one stop."""
        return bool(self.watches) or id(frame) in self._ends or id(frame) in self._stops

    def take_stops(self, frame: Any) -> List[Any]:
        return self._stops.pop(id(frame), []) if self._stops else []

    # -- events ---------------------------------------------------------------------------------

    def wants(self, frame: Any) -> bool:
        """Whether a frame that runs already is to be watched."""
        return id(frame) in self._frames or self._stores_global(frame)

    def wants_call(self, frame: Any) -> bool:
        """Whether a frame that begins is to be watched."""
        if self.wants(frame):
            return True
        caller = frame.f_back
        if caller is None or id(caller) not in self._frames or not is_user_code(frame.f_code):
            return False
        if not any(watch.looks_into_calls() for watch in self.watches):
            return False
        self._frames[id(frame)] = frame
        return True

    def _stores_global(self, frame: Any) -> bool:
        for _watch, names, name in self._globals:
            if id(frame.f_globals) == names and code_stores.stores_global(frame.f_code, name):
                return True
        return False

    def on_event(self, frame: Any, event: str) -> None:
        try:
            stops = self.take_stops(frame)
            for stop in stops:
                stop.make()
            if stops and not self._needs(frame):
                self._frames.pop(id(frame), None)
                _OBSERVERS["change"](None)
                return
            if event == "line":
                self.look(frame, frame.f_lineno)
            elif event == "return":
                self._leave(frame)
            elif event == "exception":
                self.look(frame, None)
            else:
                self._remember(frame, frame.f_lineno)
        except Exception:  # raised from here, it would be the program's
            pass

    def _leave(self, frame: Any) -> None:
        self.look(frame, None)
        if _is_suspended_generator(frame):
            return
        self._frames.pop(id(frame), None)
        self.forget_frame(frame)
        for end in self._ends.pop(id(frame), ()):
            end(frame)

    def close(self) -> None:
        self._frames.clear()
        self._ends.clear()
        self._stops.clear()
        self._globals = ()
        self.watches = ()
        self._roots.clear()
        self._lines.clear()


_YIELDS = ("YIELD_VALUE", "YIELD_FROM", "SEND", "RESUME")
_GENERATOR = 0x20 | 0x80 | 0x200  # CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR


def _is_suspended_generator(frame: Any) -> bool:
    """Whether this "return" is a yield, after which the frame goes on."""
    code, last = frame.f_code, frame.f_lasti
    if not code.co_flags & _GENERATOR or last < 0:
        return False
    if opcode.opname[code.co_code[last]] in _YIELDS:
        return True
    # Before 3.11, one that awaits stands before the instruction that goes on with it.
    return (
        opcode.opname[code.co_code[last + 2]] == "YIELD_FROM"
        if last + 2 < len(code.co_code)
        else False
    )


@contextlib.contextmanager
def untraced() -> Iterator[None]:
    """Let nothing stop the current thread in our own work."""
    import pydevd_tracing

    set_trace = pydevd_tracing.TracingFunctionHolder._original_tracing or sys.settrace
    before = sys.gettrace()
    set_trace(None)
    try:
        yield
    finally:
        if sys.gettrace() is None:  # otherwise tracing has begun again for another reason
            set_trace(before)


_WATCH: Optional[TraceWatch] = None
_OBSERVERS: Dict[str, Callable[[Any], None]] = {"change": lambda _frame: None}


def get_watch() -> TraceWatch:
    global _WATCH
    if _WATCH is None:
        _WATCH = TraceWatch()
    return _WATCH


def current_watch() -> Optional[TraceWatch]:
    return _WATCH


def close_watch() -> None:
    global _WATCH
    if _WATCH is not None:
        watch, _WATCH = _WATCH, None
        watch.close()
        _OBSERVERS["change"](None)


def set_observer(observer: Callable[[Any], None]) -> None:
    """Have it called when frames are to be watched, or no more."""
    _OBSERVERS["change"] = observer
