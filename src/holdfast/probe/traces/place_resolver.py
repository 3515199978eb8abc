"""Turns the places that a statement names into those of objects, as they are at this moment."""

from __future__ import annotations

import collections
import types
from typing import Any, Callable, Dict, List, Optional, Sequence

from . import traced_values, value_kinds
from .frame_names import UNKNOWN, FrameNames
from .object_numbers import ObjectEntry, ObjectNumbers
from .place_facts import GROWERS, MUTATORS, PlaceFact
from .place_lookup import find_member, find_stored, is_plain_key, read_attribute, read_item
from .run_events import FrameInfo, PendingWrite

# What an object that is half made, or is just changed by another thread, may raise when it is read.
ODD = (AttributeError, LookupError, RuntimeError, TypeError, ValueError)
_MAX_GROWN = 200  # new items of a list that get a place of their own
_KEY_ROOM = 40
_INPLACE = (list, dict, set, bytearray, collections.deque)  # `+=` and the like change these
_SUBSCRIPTED = (list, dict, bytearray, collections.deque)
_module_dict: Callable[[Any], Dict[str, Any]] = vars(types.ModuleType)["__dict__"].__get__
_PLAIN = value_kinds.ATOMS | {id(str), id(bytes), id(range), id(slice)}
_show = traced_values.show


def holds_nothing(value: Any) -> bool:
    """Whether a value has no places of its own that could be written."""
    return id(type(value)) in _PLAIN or type(value) is tuple or type(value) is frozenset


class PlaceResolver:
    """Looks up places in the frames of one recording."""

    def __init__(self, numbers: ObjectNumbers, is_own: Callable[[Any], bool]) -> None:
        self._numbers = numbers
        self._is_own = is_own
        self._namespaces: Dict[int, int] = {}
        self.texts: List[List[Any]] = []
        """Objects that hold something else than was last written down, with their texts."""

    def find_namespace(self, names: Any) -> int:
        """The number of a module's variables."""
        return self._namespaces.setdefault(id(names), len(self._namespaces) + 1)

    def number_value(self, value: Any, is_new: bool = False) -> int:
        """The number of an object whose places may be written, else 0."""
        if id(type(value)) in value_kinds.FIXED or holds_nothing(value):
            return 0
        return self._numbers.find(value, is_new).number

    # -- reads ------------------------------------------------------------------------------------

    def find_reads(
        self, facts: Sequence[PlaceFact], names: FrameNames, frame: FrameInfo, turn: int = 0
    ) -> List[Any]:
        """A place for each fact, 0 for one that is not known or cannot change."""
        places = []
        for fact in facts:
            try:
                places.append(self._find_read(fact, names, frame, turn))
            except ODD:
                places.append(0)
        return places

    def _find_read(self, fact: PlaceFact, names: FrameNames, frame: FrameInfo, turn: int) -> Any:
        kind = fact.kind
        if kind == "name":
            if frame.plan.is_function:
                return frame.name_place(fact.name)
            return frame.name_place(fact.name, names.read_local(fact.name) is not UNKNOWN)
        assert fact.base is not None
        base = fact.base(names)
        if base is UNKNOWN:
            return "?." + fact.name if kind == "attr" else 0
        if kind == "attr":
            return self._find_attribute(base, fact.name)
        if holds_nothing(base):
            return 0
        if kind == "item":
            assert fact.key is not None
            return self._find_item(base, fact.key(names))
        if id(type(base)) in value_kinds.FIXED:
            return 0
        entry = self._numbers.find(base)
        if kind == "turn" and type(base) is list:
            return "i%d[%d]" % (entry.number, turn)
        if not entry.is_told(base):
            self._note_text(entry, base)
        return "c%d" % entry.number

    def _note_text(self, entry: ObjectEntry, value: Any) -> None:
        text = _show(value)
        if text != entry.text:
            entry.note_text(text, value)
            self.texts.append([entry.number, text])

    def _find_attribute(self, base: Any, name: str) -> Any:
        if type(base) is types.ModuleType:
            return "g%d.%s" % (self.find_namespace(_module_dict(base)), name)
        if id(type(base)) in _PLAIN:
            return 0
        owner, value = find_stored(base, name)
        if owner is None or owner is base:
            return "a%d.%s" % (self._numbers.find(base).number, name)
        if type(value) is types.FunctionType or value is UNKNOWN:
            return 0  # a method
        return "a%d.%s" % (self._numbers.find(owner).number, name)

    def _find_item(self, base: Any, key: Any) -> str:
        number = self._numbers.find(base).number
        if key is UNKNOWN or not is_plain_key(key):
            return "c%d" % number
        return "i%d[%s]" % (number, _write_key(base, key))

    # -- writes -----------------------------------------------------------------------------------

    def find_writes(
        self, facts: Sequence[PlaceFact], maybe: int, names: FrameNames, frame: FrameInfo
    ) -> List[PendingWrite]:
        """The places that a statement is going to write; from `maybe` on, it may not."""
        pending = []
        for index, fact in enumerate(facts):
            try:
                write = self._find_write(fact, index, names, frame)
            except ODD:
                continue
            if write is None:
                continue
            if index >= maybe:
                write.before = id(self._read_back(write, names))
            pending.append(write)
        return pending

    def _find_write(
        self, fact: PlaceFact, index: int, names: FrameNames, frame: FrameInfo
    ) -> Optional[PendingWrite]:
        if fact.kind == "name":
            place = frame.name_place(fact.name)
            return PendingWrite("global" if place[0] == "g" else "name", place, index, fact)
        assert fact.base is not None
        base = fact.base(names)
        if base is UNKNOWN or id(type(base)) in _PLAIN:
            return None
        if fact.kind == "attr":
            return self._find_attribute_write(base, fact, index)
        if fact.kind == "item":
            return self._find_item_write(base, fact, index, names)
        return self._find_change(base, fact, index)

    def _find_attribute_write(
        self, base: Any, fact: PlaceFact, index: int
    ) -> Optional[PendingWrite]:
        if type(base) is types.ModuleType:
            number = self.find_namespace(_module_dict(base))
            return PendingWrite("member", "g%d.%s" % (number, fact.name), index, fact)
        member = find_member(type(base), fact.name)[1]
        if type(member) is property:
            return None  # its setter is a frame of its own
        write = PendingWrite("attr", "", index, fact)
        write.entry = self._numbers.find(base)
        write.place = "a%d.%s" % (write.entry.number, fact.name)
        return write

    def _find_item_write(
        self, base: Any, fact: PlaceFact, index: int, names: FrameNames
    ) -> Optional[PendingWrite]:
        assert fact.key is not None
        if self._is_own_method(type(base), "__setitem__"):
            return None
        entry = self._numbers.find(base)
        key = fact.key(names)
        is_moved = fact.is_deletion and not issubclass(type(base), dict)
        is_known = key is not UNKNOWN and is_plain_key(key) and _is_subscripted(base)
        write = PendingWrite("item" if is_known and not is_moved else "shake", "", index, fact)
        write.entry = entry
        if write.kind == "item":
            write.key = key
            write.place = "i%d[%s]" % (entry.number, _write_key(base, key))
        return write

    def _find_change(self, base: Any, fact: PlaceFact, index: int) -> Optional[PendingWrite]:
        """A container that changes in place."""
        kind, method = fact.kind, fact.name
        if kind == "inplace":
            if not any(issubclass(type(base), each) for each in _INPLACE):
                return None
            kind, method = "shake", "__iadd__"
        if kind == "alias":  # `add = items.append`, and now `add(x)`
            if type(base) is not types.BuiltinMethodType or base.__name__ not in MUTATORS:
                return None
            kind = "grow" if base.__name__ in GROWERS else "shake"
            base, method = base.__self__, base.__name__
        if holds_nothing(base) or type(base) is types.ModuleType:
            return None
        if method and self._is_own_method(type(base), method):
            return None
        write = PendingWrite(
            "grow" if kind == "grow" and type(base) is list else "shake", "", index, fact
        )
        write.entry = self._numbers.find(base)
        write.size = len(base) if write.kind == "grow" else 0
        return write

    def _is_own_method(self, kind: Any, name: str) -> bool:
        """Whether the program's own code does it, in a frame that is recorded."""
        method = find_member(kind, name)[1]
        return type(method) is types.FunctionType and self._is_own(method.__code__)

    # -- what was written -------------------------------------------------------------------------

    def read_writes(
        self, pending: Sequence[PendingWrite], names: FrameNames, is_new: bool
    ) -> List[List[Any]]:
        """Places, texts, labels and objects, once the statement has run."""
        lines: List[List[Any]] = []
        for write in pending:
            value = self._read_back(write, names)
            if write.before is not None and id(value) == write.before:
                continue  # its block was not entered, or nothing was changed by it
            if write.kind in ("grow", "shake"):
                lines += self._describe_change(write, value)
                continue
            is_deleted = value is UNKNOWN and write.fact is not None and write.fact.is_deletion
            text = None if is_deleted else "?" if value is UNKNOWN else _show(value)
            number = 0 if value is UNKNOWN else self.number_value(value, is_new)
            if number:
                self._numbers.find(value).note_text(text or "", value)
            lines.append([write.place, text, write.label, number])
            if write.entry is not None:
                write.entry.changed = self._numbers.clock
                holder = self._find_base(write, names)
                if holder is not UNKNOWN and self._numbers.find(holder) is write.entry:
                    self._note_text(write.entry, holder)
        return lines

    def _describe_change(self, write: PendingWrite, value: Any) -> List[List[Any]]:
        entry = write.entry
        assert entry is not None
        entry.changed = self._numbers.clock
        text = "?" if value is UNKNOWN else _show(value)
        entry.note_text(text, value)
        number = entry.number
        lines: List[List[Any]] = [["c%d" % number, text, write.label, number]]
        if write.kind == "shake":
            lines.append(["s%d" % number, "", write.label, 0])
        elif type(value) is list:
            grown = value[write.size : write.size + _MAX_GROWN]
            for index, item in enumerate(grown, write.size):
                place = "i%d[%d]" % (number, index)
                lines.append([place, _show(item), write.label, self.number_value(item)])
        return lines

    def _read_back(self, write: PendingWrite, names: FrameNames) -> Any:
        """What a place holds now."""
        fact = write.fact
        assert fact is not None
        if write.kind == "name":
            return names.read_local(fact.name)
        if write.kind == "global":
            return dict.get(names.globals, fact.name, UNKNOWN)
        base = self._find_base(write, names)
        if base is UNKNOWN:
            return UNKNOWN
        if write.kind in ("attr", "member"):
            return read_attribute(base, fact.name)
        return read_item(base, write.key) if write.kind == "item" else base

    @staticmethod
    def _find_base(write: PendingWrite, names: FrameNames) -> Any:
        """The object that a place is of; one that nothing guards is looked up again."""
        base = write.entry.find() if write.entry is not None else None
        if base is None:
            fact = write.fact
            base = fact.base(names) if fact is not None and fact.base is not None else UNKNOWN
        return base


def _is_subscripted(base: Any) -> bool:
    return any(issubclass(type(base), kind) for kind in _SUBSCRIPTED)


def _write_key(base: Any, key: Any) -> str:
    if type(key) is int and key < 0 and type(base) is list:
        key += len(base)
    return _show(key, _KEY_ROOM)
