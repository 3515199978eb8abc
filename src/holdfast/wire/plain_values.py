"""Values out of pickles that nobody loads: those of plain types, as they would be.

None, numbers, text, bytes, and lists, tuples, dicts and sets of such; decimals, fractions, dates
and times by the reductions that the standard library gives them. Named tuples are tuples. What is
none of these is handed to the caller as a note of what it is, and the rest stays usable: the second
item of a list is known whatever the first is. Nothing is imported, and nothing of the pickle's is
called. Shared parts count each time they occur, so a small pickle cannot become a large value.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

from holdfast.wire.pickle_view import Node, View, type_name
from holdfast.wire.pickle_viewer import view_pickle

MAX_PARTS = 200_000
_DEPTH = 100
_MAX_DIGITS = 4_000

Note = Callable[[str, int | None], Any]
"""Stands for what is no plain value: what it is, and its length if that is known."""


def read_plain(data: bytes, note: Note, max_parts: int = MAX_PARTS) -> Any:
    """What `data` would load as. Never raises."""
    viewed = view_pickle(data, max_parts)
    if not viewed.is_whole:
        return note(f"a value that is {viewed.why}", None)
    try:
        return _Reader(note, max_parts).value(viewed.view, _DEPTH)
    except _TooMuch as why:
        length = viewed.view.length if isinstance(viewed.view, Node) else None
        return note(f"a value that is {why}", length)


class _TooMuch(Exception):
    pass


class _Reader:
    def __init__(self, note: Note, max_parts: int) -> None:
        self._note = note
        self._left = max_parts

    def value(self, view: View, depth: int) -> Any:
        self._left -= 1
        if self._left < 0:
            raise _TooMuch("too long to look through")
        if depth == 0:
            raise _TooMuch("nested too deeply to look through")
        if not isinstance(view, Node):
            return view
        match view.kind:
            case "list":
                return self._items(view.items, depth)
            case "tuple":
                return tuple(self._items(view.items, depth))
            case "set" | "frozenset":
                return self._set(view, depth)
            case "dict":
                return self._dict(view, view.pairs, depth)
            case "object":
                return self._object(view, depth)
        return self._unknown(view)

    def _items(self, views: list[View], depth: int) -> list[Any]:
        return [self.value(each, depth - 1) for each in views]

    def _unknown(self, view: Node) -> Any:
        return self._note(f"a {type_name(view) or view.kind}", view.length)

    def _set(self, view: Node, depth: int) -> Any:
        items = self._items(view.items, depth)
        try:
            return set(items) if view.kind == "set" else frozenset(items)
        except Exception:  # a note, or what a stranger put there, cannot be hashed
            return self._unknown(view)

    def _dict(self, view: Node, pairs: list[tuple[View, View]], depth: int) -> Any:
        keys = self._items([key for key, _ in pairs], depth)
        values = self._items([each for _, each in pairs], depth)
        try:
            return dict(zip(keys, values, strict=True))
        except Exception:  # a key that cannot be hashed
            return self._unknown(view)

    def _object(self, view: Node, depth: int) -> Any:
        if view.state is not None and not _is_empty(view.state):
            return self._unknown(view)
        if view.name in ("collections.OrderedDict", "collections.defaultdict"):
            return self._dict(view, view.pairs, depth)
        if view.name == "collections.Counter" and len(view.items) == 1:
            return self.value(view.items[0], depth)
        if view.name in _MAKE and not view.pairs:
            try:
                return _MAKE[view.name](*self._items(view.items, depth))
            except (ValueError, TypeError, ArithmeticError, LookupError):
                return self._unknown(view)
        if view.is_new and len(view.items) > 1 and not view.pairs:
            return tuple(self._items(view.items, depth))  # what a named tuple is restored from
        return self._unknown(view)


def _is_empty(state: View) -> bool:
    return isinstance(state, Node) and state.kind == "dict" and not state.pairs


# -- the well-known reductions -------------------------------------------------------------------


def _decimal(text: Any) -> Decimal:
    return Decimal(_short(text))


def _fraction(*given: Any) -> Fraction:
    if len(given) == 1:
        upper, _, lower = _short(given[0]).partition("/")
        given = int(upper), int(lower or 1)
    upper, lower = given
    if type(upper) is not int or type(lower) is not int:
        raise TypeError("not whole numbers")
    return Fraction(upper, lower)


def _short(text: Any) -> str:
    if not isinstance(text, str) or len(text) > _MAX_DIGITS:
        raise TypeError("no number as text")
    return text


def _raw(given: Any, length: int) -> bytes:
    """Dates and times keep themselves in bytes; some pickles have these as text."""
    raw = given.encode("latin-1") if isinstance(given, str) else given
    if not isinstance(raw, bytes) or len(raw) != length:
        raise TypeError("no date or time")
    return raw


def _date(given: Any) -> datetime.date:
    raw = _raw(given, 4)
    return datetime.date(raw[0] * 256 + raw[1], raw[2], raw[3])


def _datetime(given: Any, zone: Any = None) -> datetime.datetime:
    raw = _raw(given, 10)
    day = datetime.date(raw[0] * 256 + raw[1], raw[2] & 0x7F, raw[3])
    micros = raw[7] << 16 | raw[8] << 8 | raw[9]
    moment = datetime.time(raw[4], raw[5], raw[6], micros, _zone(zone), fold=raw[2] >> 7)
    return datetime.datetime.combine(day, moment)


def _time(given: Any, zone: Any = None) -> datetime.time:
    raw = _raw(given, 6)
    micros = raw[3] << 16 | raw[4] << 8 | raw[5]
    return datetime.time(raw[0] & 0x7F, raw[1], raw[2], micros, _zone(zone), fold=raw[0] >> 7)


def _zone(given: Any) -> datetime.tzinfo | None:
    if given is not None and not isinstance(given, datetime.timezone):
        raise TypeError("a time zone that has to be looked up")
    return given


_MAKE: dict[str, Callable[..., Any]] = {
    "decimal.Decimal": _decimal,
    "fractions.Fraction": _fraction,
    "datetime.date": _date,
    "datetime.datetime": _datetime,
    "datetime.time": _time,
    "datetime.timedelta": lambda *given: datetime.timedelta(*map(_number, given)),
    "datetime.timezone": lambda offset, *name: datetime.timezone(offset, *name),
    "complex": lambda *given: complex(*map(_number, given)),
    "bytearray": lambda given: bytearray(_raw(given, len(given))),
}


def _number(given: Any) -> Any:
    if type(given) not in (int, float):
        raise TypeError("no number")
    return given
