"""Watching code while it runs, from Python 3.12 on: local events of our `sys.monitoring` tool.

Three things are seen. A store to a local, at the instruction after it. A write that `dict_watch`
has noted, at the next instruction of the code that wrote. And the lines, calls and ends of code
that `frame_scans` looks at. Every other instruction and all other code is left alone.
"""

from __future__ import annotations

import sys
import types
from _thread import get_ident
from typing import Any, Callable, Dict, List, Optional, Set, Tuple

from . import code_stores, dict_watch, line_monitor
from .frame_scans import Scanner, is_user_code

_getframe = sys._getframe

StoreNote = Callable[[Any, int], None]  # called with the frame and the offset of its store


class CodeEntry:
    """What is wanted of one code object."""

    __slots__ = ("begins", "code", "ends", "is_scanned", "kept", "stores", "takes_instructions")

    def __init__(self, code: Any) -> None:
        self.code = code
        self.stores: Dict[int, Tuple[Tuple[int, StoreNote], ...]] = {}
        # Stores before a jump's target: there, one that was made is told from one jumped over.
        self.begins: Set[int] = set()
        self.kept: Set[int] = set()  # offsets at which a write was looked at
        self.is_scanned = False
        self.takes_instructions = False
        self.ends = 0  # how many watches end with a frame of it

    def find_begins(self) -> None:
        targets = code_stores.find_jump_targets(self.code) if self.stores else frozenset()
        self.begins = {
            at for after, pairs in self.stores.items() if after in targets for at, _note in pairs
        }


class CodeWatch(Scanner):
    """The code objects that are watched, on the tool of the line monitor."""

    def __init__(self, monitor: Any) -> None:
        super().__init__()
        self._monitor = monitor
        self._api = monitor.api
        self._disable = self._api.DISABLE
        self._codes: Dict[int, CodeEntry] = {}  # an entry keeps its code alive
        self._ends: Dict[int, List[Callable[[Any], None]]] = {}  # by the id of a frame
        self._begun: Dict[int, int] = {}  # the store that a frame makes now, by the frame's id
        self._stops: Dict[int, Any] = {}  # by the ident of a thread that is to stop
        self._dicts = dict_watch.get_watcher(self._api, monitor.tool)
        self._dict_writes: List[Any] = [] if self._dicts is None else self._dicts.writes
        events = self._api.events
        monitor.use_extra(
            self,
            {
                events.INSTRUCTION: self._on_instruction,
                events.CALL: self._on_call,
                events.PY_RETURN: self._on_return,
                events.PY_UNWIND: self._on_unwind,
            },
        )

    # -- what is wanted -------------------------------------------------------------------------

    def _entry(self, code: Any) -> CodeEntry:
        entry = self._codes.get(id(code))
        if entry is None:
            entry = self._codes[id(code)] = CodeEntry(code)
        return entry

    def _apply(self, entry: CodeEntry, restarts: bool = False) -> None:
        events = self._api.events
        wanted = 0
        if entry.stores or entry.takes_instructions:
            # Where all tools disable a line at once, Python skips the instruction's event.
            wanted |= events.INSTRUCTION | events.LINE
        if entry.is_scanned:
            wanted |= events.LINE | events.CALL | events.PY_RETURN
        if entry.ends:
            wanted |= events.PY_RETURN
        if not wanted:
            self._codes.pop(id(entry.code), None)
        self._monitor.set_extra_events(entry.code, wanted)
        self._monitor.set_extra_global(events.PY_UNWIND if self._codes else 0)
        if restarts and wanted:
            self._restart()

    def _restart(self) -> None:
        self._api.restart_events()

    def watch_stores(self, code: Any, name: str, note: StoreNote) -> Callable[[], None]:
        """Call `note` after each store to a local or cell in this code."""
        entry = self._entry(code)
        added = {
            after: (at, note) for after, at in code_stores.find_local_stores(code, name).items()
        }
        for offset, pair in added.items():
            entry.stores[offset] = (*entry.stores.get(offset, ()), pair)
        entry.find_begins()
        self._apply(entry, restarts=True)

        def restore() -> None:
            for offset, pair in added.items():
                left = tuple(p for p in entry.stores.get(offset, ()) if p is not pair)
                if left:
                    entry.stores[offset] = left
                else:
                    entry.stores.pop(offset, None)
            entry.find_begins()
            self._apply(entry)

        return restore

    def follow_end(self, frame: Any, end: Callable[[Any], None]) -> Callable[[], None]:
        """Call `end` when the frame returns, or an exception leaves it."""
        number = id(frame)
        entry = self._entry(frame.f_code)
        self._ends.setdefault(number, []).append(end)
        entry.ends += 1
        self._apply(entry, restarts=True)

        def restore() -> None:
            ends = self._ends.get(number, [])
            if end in ends:
                ends.remove(end)
            if not ends:
                self._ends.pop(number, None)
            entry.ends -= 1
            self._apply(entry)

        return restore

    def expect_stop(self, stop: Any) -> None:
        """Stop at the next instruction of a frame."""
        self._stops[get_ident()] = stop
        self._take_instructions(stop.frame.f_code)
        self._restart()

    def _take_instructions(self, code: Any) -> CodeEntry:
        entry = self._entry(code)
        if not entry.takes_instructions:
            entry.takes_instructions = True
            self._apply(entry)
        return entry

    # -- scanning -------------------------------------------------------------------------------

    def begin(self, frame: Any) -> None:
        self._scan(frame.f_code)

    def _scan(self, code: Any) -> None:
        entry = self._entry(code)
        if not entry.is_scanned:
            entry.is_scanned = True
            self._apply(entry, restarts=True)

    def finish(self) -> None:
        for entry in list(self._codes.values()):
            if entry.is_scanned:
                entry.is_scanned = False
                self._apply(entry)

    def is_watched(self, code: Any) -> bool:
        return id(code) in self._codes or bool(self._dict_writes)

    def on_line(self, frame: Any, line: int) -> bool:
        """Called by the line monitor for code that is watched; whether this line must stay on."""
        entry = self._codes.get(id(frame.f_code))
        if entry is None:
            return self._has_written(frame)
        if entry.is_scanned:
            try:
                self.look(frame, line)
            except Exception:  # raised from here, it would be the program's
                pass
            return True
        offset = frame.f_lasti
        is_wanted = offset in entry.stores or offset in entry.begins or offset in entry.kept
        return is_wanted or self._has_written(frame)

    def _has_written(self, frame: Any) -> bool:
        if any(write[0] is frame for write in self._dict_writes):
            return True
        stop = self._stops.get(get_ident()) if self._stops else None
        return stop is not None and stop.frame is frame

    # -- called by the interpreter --------------------------------------------------------------

    def _on_instruction(self, code: Any, offset: int) -> Any:
        entry = self._codes.get(id(code))
        try:
            if (self._dict_writes or self._stops) and self._deliver(_getframe(1)):
                if entry is None or offset not in entry.kept:
                    entry = self._take_instructions(code)
                    entry.kept.add(offset)
            if entry is None:
                return self._disable
            if offset in entry.stores or offset in entry.begins:
                self._note_stores(entry, _getframe(1), offset)
                return None
        except Exception:  # raised from here, it would be the program's
            return None
        return None if offset in entry.kept else self._disable

    def _note_stores(self, entry: CodeEntry, frame: Any, offset: int) -> None:
        for store, note in entry.stores.get(offset, ()):
            if self.has_stored(frame, store):
                note(frame, store)
        if offset in entry.begins:
            self._begun[id(frame)] = offset
        elif self._begun:
            self._begun.pop(id(frame), None)

    def has_stored(self, frame: Any, store: int) -> bool:
        """Whether a frame that is at the instruction after a store has made it."""
        entry = self._codes.get(id(frame.f_code))
        if entry is None or store not in entry.begins:
            return True
        return self._begun.get(id(frame)) == store

    def _deliver(self, frame: Any) -> bool:
        """Look at what was written in this frame, and make the stop that was decided there."""
        writes = self._dict_writes
        if len(writes) == 1 and not self._stops:  # nearly always, and at every write of a hot dict
            writer, noters, offset = writes[0]
            if writer is not frame:
                return False
            del writes[0]  # others only add theirs after it
            for noter in noters:
                noter.settle_write(frame, offset)
            return True
        if not self._has_written(frame):
            return False
        for noter, offset in self.take_writes(frame):
            noter.settle_write(frame, offset)
        stop = self.take_stop(frame)
        if stop is not None:
            stop.make()
        return True

    def take_writes(self, frame: Any) -> List[Tuple[Any, int]]:
        """Who wants to know of the writes to dicts that this frame has made, and where it did."""
        if self._dicts is None or not self._dict_writes:
            return []
        writes = self._dicts.take(frame)
        return [(noter, offset) for _frame, noters, offset in writes for noter in noters]

    def take_stop(self, frame: Any) -> Optional[Any]:
        stop = self._stops.get(get_ident())
        if stop is None or stop.frame is not frame:
            return None
        return self._stops.pop(get_ident())

    def _on_call(self, code: Any, _offset: int, function: Any, _argument: Any) -> Any:
        try:
            called = _find_code(function)
            if called is not None and is_user_code(called):
                self.look(_getframe(1), None)  # later, the change would seem to be the callee's
                self._scan(called)
        except Exception:  # raised from here, it would be the program's
            pass
        return None

    def _on_return(self, code: Any, _offset: int, _value: Any) -> Any:
        entry = self._codes.get(id(code))
        if entry is None:
            return self._disable
        self._leave(entry, _getframe(1))
        return None

    def _on_unwind(self, code: Any, _offset: int, _error: Any) -> Any:
        entry = self._codes.get(id(code))
        if entry is not None:
            frame = _getframe(1)
            if self._dict_writes or self._stops:
                self._deliver(frame)
            self._leave(entry, frame)

    def _leave(self, entry: CodeEntry, frame: Any) -> None:
        try:
            if entry.is_scanned:
                self.look(frame, None)
                self.forget_frame(frame)
            self._begun.pop(id(frame), None)
            for end in self._ends.pop(id(frame), ()):
                end(frame)
        except Exception:  # raised from here, it would be the program's
            pass

    def forget_code(self) -> None:
        """Nothing is watched any more: no code has events of ours, wherever it has written."""
        for entry in list(self._codes.values()):
            self._monitor.set_extra_events(entry.code, 0)
        self._monitor.set_extra_global(0)
        self._codes.clear()
        self._ends.clear()
        self._begun.clear()
        self._stops.clear()
        if self._dicts is not None:
            self._dicts.forget_sites()

    def close(self) -> None:
        self.forget_code()
        dict_watch.close_watcher()
        self.watches = ()
        self._roots.clear()


def _find_code(function: Any) -> Optional[Any]:
    """The code that a call runs first, if it is Python code."""
    kind = type(function)
    if kind is types.MethodType:
        function = function.__func__
        kind = type(function)
    if kind is types.FunctionType:
        return function.__code__
    if issubclass(kind, type):
        for base in type.__dict__["__mro__"].__get__(function):
            made = type.__dict__["__dict__"].__get__(base).get("__init__")
            if made is not None:
                return made.__code__ if type(made) is types.FunctionType else None
    return None


_WATCH: Optional[CodeWatch] = None


def get_watch() -> Optional[CodeWatch]:
    """The watch, created if need be; None without `sys.monitoring`, or without a free tool."""
    global _WATCH
    monitor = line_monitor.get_monitor()
    if monitor is None:
        return None
    if _WATCH is None or not monitor.is_used_by(_WATCH):
        _WATCH = CodeWatch(monitor)
    return _WATCH


def current_watch() -> Optional[CodeWatch]:
    return _WATCH


def close_watch() -> None:
    global _WATCH
    if _WATCH is not None:
        _WATCH.close()
        _WATCH = None
