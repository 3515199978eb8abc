"""Classes and functions that no other process can import, each stored once under its own id.

The bytes of an instance refer to its class by that id. Definitions that refer to one another in a
circle (a class whose method makes its subclass) are stored together, and each of them is then a
part of that group, so that a restored value has one of each, as the application had.
"""

from __future__ import annotations

import hashlib
import sys
import time
import types
import weakref
from collections.abc import Iterable
from typing import Any

from holdfast.client import value_pickler, value_reductions

HEAP_TYPE = 1 << 9  # a class made by a class statement, or by C code that imitates one
_MAX_CLOSURE = 1 << 20  # bytes
_RETRY_SECONDS = 5.0  # until a definition that could not be stored is tried again


class Stored:
    """Bytes under their content id, and what else is needed to load them."""

    __slots__ = ("_all_needs", "_cid", "data", "needs")

    def __init__(self, data: bytes, needs: tuple[Stored, ...] = ()) -> None:
        self._cid: str | None = None
        self._all_needs: tuple[Stored, ...] | None = None
        self.data = data
        self.needs = needs

    @property
    def cid(self) -> str:
        if self._cid is None:
            self._cid = hashlib.sha256(self.data).hexdigest()
        return self._cid

    def all_needs(self) -> tuple[Stored, ...]:
        """What has to be there to load it, and to load that, each once."""
        if self._all_needs is None:
            needs: dict[str, Stored] = {}
            waiting = list(self.needs)
            while waiting:
                stored = waiting.pop()
                if stored.cid not in needs:
                    needs[stored.cid] = stored
                    waiting.extend(stored.needs)
            self._all_needs = tuple(needs.values())
        return self._all_needs


class Unstored(Stored):
    """A description of something that could not be stored. It is tried again after a while."""

    __slots__ = ("retry_at",)

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.retry_at = time.monotonic() + _RETRY_SECONDS

    def is_due(self) -> bool:
        return time.monotonic() >= self.retry_at


def is_importable(thing: Any) -> bool:
    """Whether another process finds this class or function under its name."""
    module = getattr(thing, "__module__", None)
    name = getattr(thing, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str):
        return False
    if module in ("__main__", "__mp_main__"):
        return False
    value: Any = sys.modules.get(module)
    for part in name.split("."):
        value = getattr(value, part, None)
    return value is thing


def is_private(thing: Any) -> bool:
    if isinstance(thing, type) and (
        not thing.__flags__ & HEAP_TYPE or thing.__module__ == "builtins"
    ):
        return False  # pickle or dill writes it by name, or cannot write it
    return not is_importable(thing)


class Definitions:
    """Every class and function stored by value, for as long as it lives."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self._known: dict[int, tuple[weakref.ref[Any], bytes | None, Stored]] = {}
        self._living: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()

    def build_referrer(self, used: dict[str, Stored]) -> value_pickler.Refer:
        """A function for a pickler, which notes in `used` what the bytes refer to."""

        def refer(thing: Any) -> str | None:
            stored = self.store(thing)
            if stored is None:
                return None
            used[stored.cid] = stored
            return stored.cid

        return refer

    def store(self, thing: Any) -> Stored | None:
        """Store a class or function; None if its name is enough."""
        known = self.get_stored(thing)
        if known is not None:
            return known
        if not is_private(thing):
            return None
        _DefinitionWriter(self).store(thing)
        return self.get_stored(thing, checked=True)

    def find_living(self, cid: str) -> Any:
        """The class or function with this id, if this process has it."""
        return self._living.get(cid)

    def get_stored(self, thing: Any, checked: bool = False) -> Stored | None:
        """What is stored of it. Unless it is `checked` already, None if it has changed since."""
        entry = self._known.get(id(thing))
        if entry is None or entry[0]() is not thing:
            return None
        stored = entry[2]
        if checked:
            return stored
        if isinstance(stored, Unstored) and stored.is_due():
            return None
        return stored if entry[1] == _closure_state(thing) else None

    def remember(self, thing: Any, stored: Stored) -> None:
        known, key = self._known, id(thing)

        def forget(reference: Any) -> None:
            entry = known.get(key)
            if entry is not None and entry[0] is reference:
                del known[key]

        known[key] = (weakref.ref(thing, forget), _closure_state(thing), stored)
        self._living[stored.cid] = thing

    def encode(self, value: Any, refer: value_pickler.Refer) -> bytes:
        with value_reductions.note_omissions():
            return value_pickler.dump_definitions(value, self.max_bytes, refer, is_private)


def _closure_state(thing: Any) -> bytes | None:
    """What may change about a function: its closure. A class is stored as it was when first met."""
    if type(thing) is not types.FunctionType or not thing.__closure__:
        return None
    try:
        contents = [cell.cell_contents for cell in thing.__closure__]
        with value_reductions.note_omissions():
            data = value_pickler.dump_plain(contents, _MAX_CLOSURE, 0)
        return data or b"?" + repr([id(content) for content in contents]).encode()
    except (ValueError, value_pickler.TooLarge):  # an empty cell; more than is worth comparing
        return b""
    except value_pickler.Changing:
        return b"?" + repr([id(content) for content in contents]).encode()


class _DefinitionWriter:
    """Stores a thing and all it refers to, those in a circle together (Tarjan's algorithm)."""

    def __init__(self, definitions: Definitions) -> None:
        self._definitions = definitions
        self._order: dict[int, int] = {}
        self._low: dict[int, int] = {}
        self._path: list[Any] = []

    def store(self, thing: Any) -> None:
        key = id(thing)
        self._order[key] = self._low[key] = len(self._order)
        self._path.append(thing)
        for other in self._find_references(thing):
            if id(other) not in self._order:
                self.store(other)
                self._low[key] = min(self._low[key], self._low[id(other)])
            elif any(member is other for member in self._path):
                self._low[key] = min(self._low[key], self._order[id(other)])
        if self._low[key] == self._order[key]:
            at = next(i for i, member in enumerate(self._path) if member is thing)
            circle = self._path[at:]
            del self._path[at:]
            self._store_circle(circle)

    def _find_references(self, thing: Any) -> list[Any]:
        references: list[Any] = []

        def refer(other: Any) -> str | None:
            if other is thing or not is_private(other):
                return None
            if self._definitions.get_stored(other) is None:
                references.append(other)
            return ""

        try:
            self._definitions.encode(thing, refer)
        except value_pickler.Changing:
            raise
        except Exception:  # pickling runs the application's code; `_encode` reports the failure
            return []
        return references

    def _store_circle(self, circle: list[Any]) -> None:
        circle.sort(key=_full_name)
        if len(circle) == 1:
            self._definitions.remember(circle[0], self._encode(circle[0], circle))
            return
        group = self._encode(tuple(circle), circle)
        for index, thing in enumerate(circle):
            data = value_pickler.dump_part(group.cid, index)
            self._definitions.remember(thing, Stored(data, (group,)))

    def _encode(self, value: Any, circle: list[Any]) -> Stored:
        used: dict[str, Stored] = {}

        def refer(other: Any) -> str | None:
            if any(other is member for member in circle) or not is_private(other):
                return None
            stored = self._definitions.get_stored(other, checked=True)
            if stored is None:
                return None
            used[stored.cid] = stored
            return stored.cid

        try:
            return Stored(self._definitions.encode(value, refer), tuple(used.values()))
        except value_pickler.Changing:
            raise
        except Exception as problem:  # a definition that cannot be stored must not stop the call
            names = ", ".join(_full_name(member) for member in circle)
            cause = problem.cause if isinstance(problem, value_pickler.NotPicklable) else problem
            why = f"{type(cause).__name__}: {cause}"[:200]
            digest = problem.digest if isinstance(problem, value_pickler.TooLarge) else ""
            return Unstored(value_pickler.dump_omission(names, why, digest=digest))


def _full_name(thing: Any) -> str:
    return f"{getattr(thing, '__module__', '')}.{getattr(thing, '__qualname__', '')}"


def all_needed(roots: Iterable[Stored]) -> dict[str, Stored]:
    """Everything that these need to be loaded, by content id."""
    return {stored.cid: stored for root in roots for stored in root.all_needs()}
