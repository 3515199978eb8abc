"""Notices writes to a dict in place, from Python 3.12 on: `PyDict_Watch`, through ctypes.

The interpreter calls us *before* each write to a watched dict, in the thread that writes, with the
dict half way. So the write is only noted there; `code_watch` looks at it one instruction later.
"""

from __future__ import annotations

import atexit
import ctypes
import sys
from typing import Any, Callable, Dict, List, Optional, Tuple

from .fingerprints import MISSING

try:
    from _ctypes import PyObj_FromPtr as _object_at
except ImportError:  # another implementation of Python, which has no watchers either
    _object_at = None  # type: ignore[assignment]

_ADDED, _MODIFIED, _DELETED, _CLONED, _CLEARED, _DEALLOCATED = range(6)
_getframe = sys._getframe

# Has `is_quiet(old, new)`, which rules out most writes, and for others
# `note_coming_write(old, new, frame)`, called before the write.
Noter = Any
ANY_KEY: Any = object()
_PLAIN_KEYS = frozenset((str, int, float, bool, bytes, type(None)))


def is_plain_key(key: Any) -> bool:
    return type(key) in _PLAIN_KEYS


class DictNotes:
    """Who wants to know what about one dict. It does not keep the dict alive."""

    def __init__(self) -> None:
        self.by_key: Dict[Any, Tuple[Noter, ...]] = {}
        self.of_any: Tuple[Noter, ...] = ()
        self.ends: Tuple[Callable[[], None], ...] = ()

    def is_empty(self) -> bool:
        return not (self.by_key or self.of_any)


class DictWatcher:
    """Our one of the eight watchers that an interpreter has room for."""

    def __init__(self) -> None:
        self._dicts: Dict[int, DictNotes] = {}
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
        """Tell the noter before each write to the key; call `end` when the dict is gone."""
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
        entry = notes

        def restore() -> None:
            if self._dicts.get(number) is not entry:
                return  # the dict is gone
            _remove(entry, key, noter, end)
            if entry.is_empty():
                del self._dicts[number]
                self._api.PyDict_Unwatch(self._number, _object_at(number))

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
        dicts, missing = self._dicts, MISSING

        def callback(event: int, number: int, key: Optional[int], new: Optional[int]) -> int:
            notes = dicts.get(number)
            if notes is None:
                return 0
            try:
                if key is None:
                    _note_whole(event, number, notes, dicts)
                    return 0
                name = _object_at(key)
                # Hashing any other key would run the program's code here.
                wanted = notes.by_key.get(name) if type(name) in _PLAIN_KEYS else None
                if wanted is not None:
                    old = dict.get(_object_at(number), name, missing)
                    value = missing if new is None else _object_at(new)
                    for noter in wanted:
                        if not noter.is_quiet(old, value):
                            noter.note_coming_write(old, value, _getframe(1))
                for noter in notes.of_any:
                    noter.note_coming_write(missing, missing, _getframe(1))
            except Exception:  # it would be printed, in the middle of the program's write
                pass
            return 0

        return callback


def _note_whole(event: int, number: int, notes: DictNotes, dicts: Dict[int, DictNotes]) -> None:
    """The dict is cleared, filled with a copy of another one, or gone."""
    if event == _DEALLOCATED:
        dicts.pop(number, None)
        for end in notes.ends:
            end()
        return
    held = _object_at(number)
    frame = _getframe(2)
    for key, wanted in list(notes.by_key.items()):
        old = dict.get(held, key, MISSING)
        for noter in wanted:  # whoever looks at it later reads the value again
            noter.note_coming_write(old, MISSING, frame)
    for noter in notes.of_any:
        noter.note_coming_write(MISSING, MISSING, frame)


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


_WATCHER: Optional[DictWatcher] = None


def is_possible() -> bool:
    is_new_enough = sys.version_info >= (3, 12) and sys.implementation.name == "cpython"
    return is_new_enough and _object_at is not None


def get_watcher() -> Optional[DictWatcher]:
    """The watcher, created if need be; None if the interpreter has no room for it."""
    global _WATCHER
    if _WATCHER is None and is_possible():
        _WATCHER = DictWatcher()
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
