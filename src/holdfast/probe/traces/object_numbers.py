"""Numbers for the objects of a program, so that no two objects share one.

An `id` is another object's one day. An object that can be weakly referenced is, so it lives no
longer than without us. Lists and dicts cannot be: they are kept, and let go as soon as nobody else
has them, which is looked for at every event. So they may live until the next statement of the
program's own code. One that directly holds an object with `__del__` is never kept, and neither is
any other object; their numbers are good for a limited time.

A full collection of cyclic garbage must not find our references: they are dropped before it, and
taken again by those that have survived.
"""

from __future__ import annotations

import functools
import gc
import itertools
import sys
import weakref
from typing import Any, Callable, Dict, List

from .. import introspection
from .place_lookup import find_member

_MAX_LOOKED_AT = 16  # kept objects that are looked at in one event
_MAX_ITEMS = 50  # of a container that are looked at for `__del__`
_SHORT_LIFE = 2000  # events for which an id is believed that nothing guards
_OLDEST_GENERATION = 2
_KEPT_KINDS = (list, dict, bytearray)
_MEASURED = frozenset(map(id, (list, dict, set, bytearray)))  # a metaclass may have a `__hash__`
_getrefcount, _is_tracked = sys.getrefcount, gc.is_tracked
_make_ref = weakref.ref


class ObjectEntry:
    """One object that has a number."""

    __slots__ = ("changed", "is_flat", "kept", "kind", "number", "ref", "seen", "size", "text")

    def __init__(self, number: int, kind: Any) -> None:
        self.number = number
        self.kind = id(kind)  # the class itself would be kept alive, and what refers to it
        self.ref: Any = None
        self.kept: Any = None
        self.seen = 0
        self.text = ""
        """What it held when that was last written down."""
        self.is_flat = False
        """Whether that shows no other object: then only its own changes can make it untrue."""
        self.size = 0
        self.changed = 0
        """When a statement of the program's own code was last seen to change it."""

    def note_text(self, text: str, value: Any) -> None:
        self.text = text
        self.is_flat = sum(map(text.count, "[{(<")) <= 1
        self.size = _measure(value)

    def is_told(self, value: Any) -> bool:
        """Whether what was written down of it is still so, as far as a quick look tells."""
        return self.is_flat and self.size == _measure(value)

    def find(self) -> Any:
        """The object, or None if it is gone or nothing guards it."""
        return self.kept if self.ref is None else self.ref()


def _measure(value: Any) -> int:
    return len(value) if id(type(value)) in _MEASURED else 0


class ObjectNumbers:
    """The objects that have a number, by id while they live."""

    def __init__(self) -> None:
        self._entries: Dict[int, ObjectEntry] = {}
        self._kept: Dict[int, ObjectEntry] = {}
        self._dropped: Dict[int, ObjectEntry] = {}
        self._numbers = itertools.count(1)
        self._turn: List[int] = []
        self.clock = 0

    def open(self) -> None:
        gc.callbacks.append(self._on_collection)

    def close(self) -> None:
        if self._on_collection in gc.callbacks:
            gc.callbacks.remove(self._on_collection)
        self._entries.clear()
        self._kept.clear()
        self._dropped.clear()
        self._turn.clear()

    def find(self, value: Any, is_new: bool = False) -> ObjectEntry:
        """The entry of an object; `is_new`: it was made just now, so an old one is another's."""
        key = id(value)
        entry = self._entries.get(key)
        if (
            entry is not None
            and entry.kind == id(type(value))
            and not self._is_doubtful(entry, is_new)
        ):
            entry.seen = self.clock
            return entry
        return self._add(key, value)

    def _is_doubtful(self, entry: ObjectEntry, is_new: bool) -> bool:
        if entry.ref is not None or entry.kept is not None:
            return False
        return is_new or self.clock - entry.seen > _SHORT_LIFE

    def _add(self, key: int, value: Any) -> ObjectEntry:
        entry = ObjectEntry(next(self._numbers), type(value))
        entry.seen = self.clock
        try:
            # Python code is never called back, and nothing but a dict is changed.
            entry.ref = _make_ref(value, functools.partial(self._entries.pop, key))
        except TypeError:
            if _may_keep(value):
                entry.kept = value
                self._kept[key] = entry
        self._entries[key] = entry
        return entry

    def release(self) -> None:
        """Let go what nobody else has; a few are looked at, the others at the next events."""
        kept = self._kept
        if not kept:
            return
        for key in list(kept) if len(kept) <= _MAX_LOOKED_AT else self._choose(kept):
            entry = kept.get(key)
            # Ours, and the one that this call has.
            if entry is not None and _getrefcount(entry.kept) <= 2:
                kept.pop(key, None)
                self._entries.pop(key, None)
                entry.kept = None

    def _choose(self, kept: Dict[int, ObjectEntry]) -> List[int]:
        """The next few of many; another thread, or a collection, may do the same meanwhile."""
        if not self._turn:
            self._turn = list(kept)
        chosen, self._turn = self._turn[:_MAX_LOOKED_AT], self._turn[_MAX_LOOKED_AT:]
        return chosen

    def _on_collection(self, phase: str, info: Dict[str, int]) -> None:
        """Python collects cyclic garbage: it shall not find it held by us."""
        if info.get("generation") != _OLDEST_GENERATION:
            return
        if phase == "start":
            for key, entry in list(self._kept.items()):
                if _is_tracked(entry.kept):
                    self._dropped[key] = entry
                    self._kept.pop(key, None)
                    entry.kept = None
        elif self._dropped:
            self._take_survivors()

    def _take_survivors(self) -> None:
        dropped, self._dropped = self._dropped, {}
        for value in gc.get_objects():
            entry = dropped.pop(id(value), None) if id(value) in dropped else None
            if entry is not None and id(type(value)) == entry.kind:
                entry.kept = value
                self._kept[id(value)] = entry
        for key, entry in dropped.items():
            if self._entries.get(key) is entry:
                self._entries.pop(key, None)


def _may_keep(value: Any) -> bool:
    """Whether nobody notices that a container lives until the next statement."""
    kind = type(value)
    if not any(kind is each for each in _KEPT_KINDS):
        return False
    if kind is bytearray:
        return True
    try:
        items = value.values() if kind is dict else value
        return not any(_has_finalizer(type(item)) for item in itertools.islice(items, _MAX_ITEMS))
    except RuntimeError:  # another thread changes it just now
        return False


_flags_of: Callable[[Any], int] = type.__dict__["__flags__"].__get__
_FINALIZERS: Dict[int, bool] = {}  # of classes that live as long as Python


def _has_finalizer(kind: Any) -> bool:
    """Whether an object of this class may notice when it dies."""
    known = _FINALIZERS.get(id(kind))
    if known is None:
        known = find_member(kind, "__del__")[0] is not None
        if not _flags_of(kind) & introspection.HEAP_TYPE:
            _FINALIZERS[id(kind)] = known
    return known
