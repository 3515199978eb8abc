"""Notices writes to a dict in place, from Python 3.12 on: `PyDict_Watch`, through ctypes.

The interpreter calls us *before* each write to a watched dict, in the thread that writes, with the
dict half way. Another thread must not run in between, or both would free the same value: so the
function that is called does not call anything by Python's own instructions, at which it could
release the lock of the interpreter. It notes the write and has the next instruction of the code
that writes reported; `code_watch` looks at the dict there.
"""

from __future__ import annotations

import _ctypes
import atexit
import ctypes
import dis
import functools
import sys
import types
from typing import Any, Callable, Dict, List, Optional, Tuple

# None in another implementation of Python, which has no watchers either.
object_at: Any = getattr(_ctypes, "PyObj_FromPtr", None)
_DEALLOCATED = 5  # of the events, PyDict_EVENT_DEALLOCATED
_AFTER_YIELD_FROM = 2  # the argument of RESUME
_MAX_WRITES = 1000

# Has `settle_write(frame, offset)`, called after a write, with the place in the code that wrote.
Noter = Any
Write = Tuple[Any, Tuple[Noter, ...], int]  # the frame, who wants to know, the offset of the write
ANY_KEY: Any = object()
_PLAIN_KEYS = frozenset((str, int, float, bool, bytes, type(None)))


def is_plain_key(key: Any) -> bool:
    return type(key) in _PLAIN_KEYS


class DictNotes:
    """Who wants to know what about one dict. It does not keep the dict alive."""

    __slots__ = ("all", "by_key", "ends", "of_any")

    def __init__(self) -> None:
        self.by_key: Dict[Any, Tuple[Noter, ...]] = {}
        self.of_any: Tuple[Noter, ...] = ()
        self.all: Tuple[Noter, ...] = ()  # of every key
        self.ends: Tuple[Callable[[], None], ...] = ()

    def join(self) -> None:
        self.all = sum(self.by_key.values(), ()) + self.of_any

    def is_empty(self) -> bool:
        return not (self.by_key or self.of_any)


class DictWatcher:
    """Our one of the eight watchers that an interpreter has room for."""

    def __init__(self, tool_events: ToolEvents) -> None:
        self._dicts: Dict[int, DictNotes] = {}
        self._tool_events = tool_events
        self.writes: List[Write] = []
        self.sites: Dict[Tuple[int, int], bool] = {}  # where in which code a write was seen
        api = ctypes.PyDLL(None)  # an object of our own: the types of its functions are ours too
        kind = ctypes.PYFUNCTYPE(
            ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p
        )
        api.PyDict_AddWatcher.argtypes = [kind]
        for name in ("PyDict_Watch", "PyDict_Unwatch"):
            getattr(api, name).argtypes = [ctypes.c_int, ctypes.py_object]
        self._api = api
        self._callback = kind(self._make_callback())  # must live as long as the watcher
        try:
            self._number: int = api.PyDict_AddWatcher(self._callback)
        except RuntimeError:  # others have taken all of them
            self._number = -1
        # Python calls the watcher until the very end, when nothing of ours is left to be called.
        atexit.register(self.close)

    def watch(
        self, held: Any, key: Any, noter: Noter, end: Callable[[], None]
    ) -> Callable[[], None]:
        """Tell the noter of each write to the key; call `end` when the dict is gone."""
        number = id(held)
        notes = self._dicts.get(number)
        if notes is None:
            notes = self._dicts[number] = DictNotes()
            self._api.PyDict_Watch(self._number, held)
        if key is ANY_KEY:
            notes.of_any = (*notes.of_any, noter)
        else:
            notes.by_key[key] = (*notes.by_key.get(key, ()), noter)
        notes.ends = (*notes.ends, end)
        notes.join()
        entry = notes

        def restore() -> None:
            if self._dicts.get(number) is not entry:
                return  # the dict is gone
            _remove(entry, key, noter, end)
            if entry.is_empty():
                del self._dicts[number]
                self._api.PyDict_Unwatch(self._number, object_at(number))

        return restore

    def is_open(self) -> bool:
        return self._number >= 0

    def close(self) -> None:
        if self._number >= 0:
            number, self._number = self._number, -1
            self._dicts.clear()
            self._api.PyDict_ClearWatcher(number)
            atexit.unregister(self.close)

    def _make_callback(self) -> Any:
        callback = make_callback(self._dicts, self.writes, self.sites, self._tool_events)
        return _without_checks(callback)

    def forget_sites(self) -> None:
        """Nothing is watched, and the code that wrote has no events any more."""
        self.writes.clear()
        self.sites.clear()

    def take(self, frame: Any) -> List[Write]:
        """The writes of one frame that nobody has looked at yet."""
        found = [write for write in self.writes if write[0] is frame]
        for write in found:
            self.writes.remove(write)
        if len(self.writes) > _MAX_WRITES:  # of frames that never went on
            self.writes.clear()
        return found


def make_callback(
    dicts: Dict[int, DictNotes],
    writes: List[Write],
    sites: Dict[Tuple[int, int], bool],
    tool_events: ToolEvents,
) -> Any:
    """The function for Python to call. Everything that it does is done by functions in C."""
    objects, frames, kinds, ids = _Objects(), _Frames(), _Kinds(), _Ids()
    events, restart, wanted_events = tool_events.events, tool_events.restart, tool_events.wanted
    plain = _PLAIN_KEYS

    def callback(event: int, number: int, key: Optional[int], new: Optional[int]) -> int:
        nonlocal writes
        try:
            notes = dicts[number]
            if key is None:
                if event == _DEALLOCATED:
                    _end(number, dicts)  # may call anything: nobody else has this dict
                    return 0
                noters = notes.all
            else:
                name = objects[key]
                noters = notes.of_any
                # Hashing any other key would run the program's code.
                if kinds[name] in plain and name in notes.by_key:
                    noters = notes.by_key[name] + noters
            if noters:
                frame = frames[1]
                code = frame.f_code
                offset = frame.f_lasti
                site = (ids[code], offset)
                if site not in sites:
                    sites[site] = True
                    now = events[code]
                    if now & wanted_events != wanted_events:
                        events[code] = now | wanted_events
                    -restart
                writes += ((frame, noters, offset),)
        except Exception:  # it would be printed, in the middle of the program's write
            pass
        return 0

    return callback


class _Objects:
    """`objects[address]` is the object there. These classes call functions in C by operators."""

    __getitem__ = staticmethod(object_at)


class _Frames:
    __getitem__ = staticmethod(sys._getframe)


class _Kinds:
    __getitem__ = type


class _Ids:
    __getitem__ = staticmethod(id)


class ToolEvents:
    """The events of code for our `sys.monitoring` tool: `events[code]` reads and sets them."""

    def __init__(self, api: Any, tool: int) -> None:
        self.wanted: int = api.events.INSTRUCTION | api.events.LINE
        read = functools.partial(api.get_local_events, tool)
        write = functools.partial(api.set_local_events, tool)
        methods = {"__getitem__": staticmethod(read), "__setitem__": staticmethod(write)}
        self.events: Any = type("Events", (), methods)()
        self.restart: Any = type("Restart", (), {"__neg__": staticmethod(api.restart_events)})()


def _end(number: int, dicts: Dict[int, DictNotes]) -> None:
    for end in dicts.pop(number).ends:
        end()


def _without_checks(function: Any) -> Any:
    """The same function, entered without releasing the interpreter's lock if others wait for it.

    Python does that where a function begins, unless it goes on from a `yield from`; the argument
    of the first instruction says which of the two it is.
    """
    code = function.__code__
    raw = bytearray(code.co_code)
    begin = next(at for at in range(0, len(raw), 2) if raw[at] == dis.opmap["RESUME"])
    raw[begin + 1] = _AFTER_YIELD_FROM
    quiet = code.replace(co_code=bytes(raw), co_linetable=b"")  # nor any events of its lines
    return types.FunctionType(quiet, function.__globals__, code.co_name, None, function.__closure__)


def _remove(notes: DictNotes, key: Any, noter: Noter, end: Callable[[], None]) -> None:
    if key is ANY_KEY:
        notes.of_any = tuple(other for other in notes.of_any if other is not noter)
    else:
        left = tuple(other for other in notes.by_key.get(key, ()) if other is not noter)
        if left:
            notes.by_key[key] = left
        else:
            notes.by_key.pop(key, None)
    ends: List[Any] = list(notes.ends)
    if end in ends:
        ends.remove(end)
    notes.ends = tuple(ends)
    notes.join()


_WATCHER: Optional[DictWatcher] = None


def is_possible() -> bool:
    is_new_enough = sys.version_info >= (3, 12) and sys.implementation.name == "cpython"
    return is_new_enough and object_at is not None and _is_locked()


def _is_locked() -> bool:
    """Without the interpreter's lock, other threads run in between whatever we do."""
    is_enabled: Callable[[], bool] = getattr(sys, "_is_gil_enabled", lambda: True)
    return is_enabled()


def get_watcher(api: Any = None, tool: int = -1) -> Optional[DictWatcher]:
    """The watcher, created if need be with a tool; None if the interpreter has no room for it."""
    global _WATCHER
    if _WATCHER is None and api is not None and is_possible():
        _WATCHER = DictWatcher(ToolEvents(api, tool))
    return _WATCHER if _WATCHER is not None and _WATCHER.is_open() else None


def close_watcher() -> None:
    global _WATCHER
    if _WATCHER is not None:
        _WATCHER.close()
        _WATCHER = None


def find_class_dict(cls: type) -> Optional[Dict[str, Any]]:
    """The dict behind a class's `__dict__`, which only shows it."""
    import gc

    for referent in gc.get_referents(type.__dict__["__dict__"].__get__(cls)):
        if type(referent) is dict:
            return referent
    return None
