"""Classes and functions that no other process can import, each stored once under its own id.

A class of `__main__` is in none of its instances' bytes: they refer to it. Those that refer to one
another in a circle (a class whose method makes its subclass) are stored together, and each of them
is then a part of that group, so that what is restored has one of each, as the application had.
"""

from __future__ import annotations

import hashlib
import sys
import types
import weakref
from collections.abc import Callable, Iterable
from typing import Any

from holdfast.client import value_pickler

_HEAP_TYPE = 1 << 9  # a class made by a class statement, or by C code that imitates one


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


def is_importable(thing: Any) -> bool:
    """Whether another process finds this class or function under its name."""
    module = getattr(thing, "__module__", None)
    name = getattr(thing, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str):
        return False
    if module in ("__main__", "__mp_main__"):
        return False
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found is thing


def is_private(thing: Any) -> bool:
    if isinstance(thing, type) and (
        not thing.__flags__ & _HEAP_TYPE or thing.__module__ == "builtins"
    ):
        return False  # pickle or dill knows it by name, or nobody does
    return not is_importable(thing)


class Definitions:
    """Every class and function stored by value, for as long as it lives."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: dict[int, tuple[weakref.ref[Any], bytes | None, Stored]] = {}
        self._living: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()

    def referrer(self, used: dict[str, Stored]) -> value_pickler.Refer:
        """What a pickler asks about each class and function; notes in `used` what it refers to."""

        def refer(thing: Any) -> str | None:
            stored = self.of(thing)
            if stored is None:
                return None
            used[stored.cid] = stored
            return stored.cid

        return refer

    def of(self, thing: Any) -> Stored | None:
        """Where it is stored; None if its name is enough."""
        known = self._remembered(thing)
        if known is not None:
            return known
        if not is_private(thing):
            return None
        _Circles(self).store(thing)
        return self._remembered(thing, fresh=True)

    def living(self, cid: str) -> Any:
        """The very class or function with this id, if this process has it."""
        return self._living.get(cid)

    def _remembered(self, thing: Any, fresh: bool = False) -> Stored | None:
        entry = self._known.get(id(thing))
        if entry is None or entry[0]() is not thing:
            return None
        return entry[2] if fresh or entry[1] == state_of(thing) else None

    def remember(self, thing: Any, stored: Stored) -> None:
        key = id(thing)
        self._known[key] = (weakref.ref(thing, self._forgetting(key)), state_of(thing), stored)
        self._living[stored.cid] = thing

    def _forgetting(self, key: int) -> Callable[[Any], None]:
        known = self._known

        def forget(gone: Any) -> None:
            entry = known.get(key)
            if entry is not None and entry[0] is gone:
                del known[key]

        return forget

    def dump(self, value: Any, refer: value_pickler.Refer) -> bytes:
        return value_pickler.thorough(value, self._most, refer, is_private)


def state_of(thing: Any) -> bytes | None:
    """What may change about a function: its closure. A class is stored as it was when first met."""
    if type(thing) is not types.FunctionType or not thing.__closure__:
        return None
    try:
        held = [cell.cell_contents for cell in thing.__closure__]
        return (
            value_pickler.plain(held, 1 << 20, 0)
            or b"?" + repr([id(each) for each in held]).encode()
        )
    except (
        ValueError,
        value_pickler.TooLarge,
    ):  # a cell that is still empty; or more than is worth it
        return b""


class _Circles:
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
        for other in self._references(thing):
            if id(other) not in self._order:
                self.store(other)
                self._low[key] = min(self._low[key], self._low[id(other)])
            elif any(each is other for each in self._path):
                self._low[key] = min(self._low[key], self._order[id(other)])
        if self._low[key] == self._order[key]:
            at = next(i for i, each in enumerate(self._path) if each is thing)
            circle = self._path[at:]
            del self._path[at:]
            self._store_circle(circle)

    def _references(self, thing: Any) -> list[Any]:
        met: list[Any] = []

        def refer(other: Any) -> str | None:
            if other is thing or not is_private(other):
                return None
            if self._definitions._remembered(other) is None:
                met.append(other)
            return ""

        try:
            self._definitions.dump(thing, refer)
        except Exception:  # it will be said that it cannot be stored, when it is stored
            return []
        return met

    def _store_circle(self, circle: list[Any]) -> None:
        circle.sort(key=_name)
        if len(circle) == 1:
            self._definitions.remember(circle[0], self._stored(circle[0], circle))
            return
        group = self._stored(tuple(circle), circle)
        for index, thing in enumerate(circle):
            data = value_pickler.part(group.cid, index)
            self._definitions.remember(thing, Stored(data, (group,)))

    def _stored(self, value: Any, inside: list[Any]) -> Stored:
        used: dict[str, Stored] = {}

        def refer(other: Any) -> str | None:
            if any(other is each for each in inside) or not is_private(other):
                return None
            stored = self._definitions._remembered(other, fresh=True)
            if stored is None:
                return None
            used[stored.cid] = stored
            return stored.cid

        try:
            return Stored(self._definitions.dump(value, refer), tuple(used.values()))
        except Exception as problem:  # code is not data: that it cannot be stored stops nobody
            names = ", ".join(_name(each) for each in inside)
            why = f"{type(problem).__name__}: {problem}"[:200]
            digest = problem.digest if isinstance(problem, value_pickler.TooLarge) else ""
            return Stored(value_pickler.omission(names, why, digest=digest))


def _name(thing: Any) -> str:
    return f"{getattr(thing, '__module__', '')}.{getattr(thing, '__qualname__', '')}"


def all_needed(roots: Iterable[Stored]) -> dict[str, Stored]:
    """Everything that these need to be loaded, by content id."""
    return {stored.cid: stored for root in roots for stored in root.all_needs()}
