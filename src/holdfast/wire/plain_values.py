"""Reads the plain values in a pickle without loading it.

Plain values are None, numbers, text, bytes, and lists, tuples, dicts and sets of such; decimals,
fractions, dates and times by the reductions of the standard library. Named tuples are tuples. For
anything else the caller makes a note, and the rest stays usable: the second item of a list is known
whatever the first is. Nothing is imported, and nothing that the pickle names is called. Shared
parts count each time they occur, so a small pickle cannot become a large value.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

from holdfast.wire.pickle_view import Node, View, type_name
from holdfast.wire.pickle_viewer import view_pickle

MAX_PARTS = 200_000
_MAX_DEPTH = 100
_MAX_DIGITS = 4_000

Fields = Callable[[], Mapping[str, Callable[[], Any]]] | None
"""Gives the attributes that were stored of an object, each to be read when it is needed."""
Note = Callable[[str, int | None, Fields], Any]
"""Makes what stands for a value that is not plain, of a description, its length and its
attributes, as far as they are known."""


def read_plain(data: bytes, note: Note, max_parts: int = MAX_PARTS) -> Any:
    """What `data` would load as. Never raises."""
    viewed = view_pickle(data, max_parts)
    if not viewed.is_whole:
        return note(f"a value that is {viewed.why}", None, None)
    try:
        return _Reader(note, max_parts).read(viewed.view, _MAX_DEPTH)
    except _TooMuch as why:
        length = viewed.view.length if isinstance(viewed.view, Node) else None
        return note(f"a value that is {why}", length, None)


class _TooMuch(Exception):
    """The value has too many parts, or is nested too deeply."""


class _Reader:
    def __init__(self, note: Note, max_parts: int) -> None:
        self._note = note
        self._max_parts = self._left = max_parts

    def _read_alone(self, view: View) -> Any:
        """An attribute, within limits of its own: objects often refer to each other."""
        try:
            return _Reader(self._note, self._max_parts).read(view, _MAX_DEPTH)
        except _TooMuch as why:
            return self._note(f"a value that is {why}", None, None)

    def _list_attributes(self, view: Node) -> dict[str, Callable[[], Any]]:
        pairs = [pair for state in _list_states(view.state) for pair in state.pairs]
        return {
            name: partial(self._read_alone, value) for name, value in pairs if isinstance(name, str)
        }

    def read(self, view: View, depth: int) -> Any:
        self._left -= 1
        if self._left < 0:
            raise _TooMuch("too long to look through")
        if depth == 0:
            raise _TooMuch("nested too deeply to look through")
        if not isinstance(view, Node):
            return view
        match view.kind:
            case "list":
                return self._read_items(view.items, depth)
            case "tuple":
                return tuple(self._read_items(view.items, depth))
            case "set" | "frozenset":
                return self._read_set(view, depth)
            case "dict":
                return self._read_dict(view, view.pairs, depth)
            case "object":
                return self._read_object(view, depth)
        return self._make_note(view)

    def _read_items(self, views: list[View], depth: int) -> list[Any]:
        return [self.read(item, depth - 1) for item in views]

    def _make_note(self, view: Node) -> Any:
        fields = None
        if view.kind == "object" and view.state is not None:
            fields = partial(self._list_attributes, view)
        return self._note(f"a {type_name(view) or view.kind}", view.length, fields)

    def _read_set(self, view: Node, depth: int) -> Any:
        items = self._read_items(view.items, depth)
        try:
            return set(items) if view.kind == "set" else frozenset(items)
        except Exception:  # a note, or what a stranger put there, cannot be hashed
            return self._make_note(view)

    def _read_dict(self, view: Node, pairs: list[tuple[View, View]], depth: int) -> Any:
        keys = self._read_items([key for key, _ in pairs], depth)
        values = self._read_items([value for _, value in pairs], depth)
        try:
            return dict(zip(keys, values, strict=True))
        except Exception:  # a key that cannot be hashed
            return self._make_note(view)

    def _read_object(self, view: Node, depth: int) -> Any:
        if view.state is not None and not _is_empty(view.state):
            return self._make_note(view)
        if view.name in ("collections.OrderedDict", "collections.defaultdict"):
            return self._read_dict(view, view.pairs, depth)
        if view.name == "collections.Counter" and len(view.items) == 1:
            return self.read(view.items[0], depth)
        if view.name in _MAKERS and not view.pairs:
            try:
                return _MAKERS[view.name](*self._read_items(view.items, depth))
            except (ValueError, TypeError, ArithmeticError, LookupError):
                return self._make_note(view)
        if view.is_new and len(view.items) > 1 and not view.pairs:
            return tuple(self._read_items(view.items, depth))  # what a named tuple is restored from
        return self._make_note(view)


def _is_empty(state: View) -> bool:
    return isinstance(state, Node) and state.kind == "dict" and not state.pairs


def _list_states(state: View) -> list[Node]:
    """The dicts of attributes in an object's state: its own, that of its slots, a model's."""
    if not isinstance(state, Node):
        return []
    if state.kind == "tuple":
        return [inner for part in state.items for inner in _list_states(part)]
    if state.kind != "dict":
        return []
    inside = [value for name, value in state.pairs if name == "__dict__"]
    return [state, *(inner for part in inside for inner in _list_states(part))]


# -- the reductions of the standard library ------------------------------------------------------


def _make_decimal(text: Any) -> Decimal:
    return Decimal(_check_digits(text))


def _make_fraction(*args: Any) -> Fraction:
    if len(args) == 1:
        text, _, divisor = _check_digits(args[0]).partition("/")
        args = int(text), int(divisor or 1)
    numerator, denominator = args
    if type(numerator) is not int or type(denominator) is not int:
        raise TypeError("not whole numbers")
    return Fraction(numerator, denominator)


def _check_digits(text: Any) -> str:
    if not isinstance(text, str) or len(text) > _MAX_DIGITS:
        raise TypeError("no number as text")
    return text


def _to_bytes(value: Any, length: int) -> bytes:
    """The state of a date or time, which some pickles have as text."""
    raw = value.encode("latin-1") if isinstance(value, str) else value
    if not isinstance(raw, bytes) or len(raw) != length:
        raise TypeError("no date or time")
    return raw


def _make_date(state: Any) -> datetime.date:
    raw = _to_bytes(state, 4)
    return datetime.date(raw[0] * 256 + raw[1], raw[2], raw[3])


def _make_datetime(state: Any, zone: Any = None) -> datetime.datetime:
    raw = _to_bytes(state, 10)
    day = datetime.date(raw[0] * 256 + raw[1], raw[2] & 0x7F, raw[3])
    micros = raw[7] << 16 | raw[8] << 8 | raw[9]
    moment = datetime.time(raw[4], raw[5], raw[6], micros, _check_zone(zone), fold=raw[2] >> 7)
    return datetime.datetime.combine(day, moment)


def _make_time(state: Any, zone: Any = None) -> datetime.time:
    raw = _to_bytes(state, 6)
    micros = raw[3] << 16 | raw[4] << 8 | raw[5]
    return datetime.time(raw[0] & 0x7F, raw[1], raw[2], micros, _check_zone(zone), fold=raw[0] >> 7)


def _check_zone(zone: Any) -> datetime.tzinfo | None:
    if zone is not None and not isinstance(zone, datetime.timezone):
        raise TypeError("a time zone that has to be looked up")
    return zone


_MAKERS: dict[str, Callable[..., Any]] = {
    "decimal.Decimal": _make_decimal,
    "fractions.Fraction": _make_fraction,
    "datetime.date": _make_date,
    "datetime.datetime": _make_datetime,
    "datetime.time": _make_time,
    "datetime.timedelta": lambda *args: datetime.timedelta(*map(_check_number, args)),
    "datetime.timezone": lambda offset, *name: datetime.timezone(offset, *name),
    "complex": lambda *args: complex(*map(_check_number, args)),
    "bytearray": lambda data: bytearray(_to_bytes(data, len(data))),
}


def _check_number(value: Any) -> Any:
    if type(value) not in (int, float):
        raise TypeError("no number")
    return value
