"""How much room the parts of an answer get: the ladder from everything down to counts.

An answer that does not fit its budget goes down the ladder: values are shortened, then shown by
their shape, then only named; lists lose their last items; at the end there are only counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from msgspec import UNSET, UnsetType

from holdfast.wire.plain_text import ELLIPSIS

T = TypeVar("T")
U = TypeVar("U")

SHAPES = 0
NAMES = -1
_TEXT = re.compile(r"[bBrRuU]{0,2}['\"]")
_OBJECT = re.compile(r"<?([A-Za-z_][\w.]*)[ (]")
_BRACKETS = {"[": "list", "(": "tuple"}


@dataclass(frozen=True)
class Room:
    """How much is shown of an answer's parts."""

    chars: int
    """Characters of a value; or `SHAPES`, or `NAMES`."""
    items: int
    """Items of the list that the answer is about."""
    lines: int
    """Lines of each list beside it, and values of each item."""
    names: int = 160
    """Characters of a name, a place or a sentence."""


LADDER = (
    Room(1000, 50, 50),
    Room(400, 50, 30),
    Room(200, 50, 20),
    Room(100, 50, 12),
    Room(60, 30, 10),
    Room(30, 30, 8, 100),
    Room(SHAPES, 30, 6, 80),
    Room(NAMES, 30, 6, 60),
    Room(NAMES, 20, 4, 60),
    Room(NAMES, 12, 4, 60),
    Room(NAMES, 8, 3, 60),
    Room(NAMES, 5, 2, 40),
    Room(NAMES, 3, 1, 40),
    Room(NAMES, 2, 0, 40),
    Room(NAMES, 1, 0, 30),
    Room(NAMES, 0, 0, 24),
)


def shorten(text: str, most: int) -> str:
    """Its beginning, and how long it is; of a very short one only the beginning."""
    if len(text) <= most:
        return text
    length = f"{ELLIPSIS} ({len(text)} characters)"
    if most < 2 * len(length):
        return text[: max(most - 1, 0)] + ELLIPSIS
    return text[: most - len(length)] + length


def shorten_place(text: str, most: int) -> str:
    """Its end, with the file's own name and the line."""
    return text if len(text) <= most else ELLIPSIS + text[len(text) - max(most - 1, 0) :]


def describe_shape(text: str) -> str:
    """What kind of value a text shows, as far as the text tells."""
    if len(text) <= 24:
        return text
    if _TEXT.match(text):
        return f"text of {len(text)} characters"
    if text[0] in _BRACKETS:
        return f"{_BRACKETS[text[0]]}, {len(text)} characters"
    if text[0] == "{":
        return f"dict or set, {len(text)} characters"
    found = _OBJECT.match(text)
    return f"{found[1][:40]} object" if found else shorten(text, 24)


def fit_value(text: str, room: Room) -> str:
    """A value as this room shows it."""
    if room.chars == NAMES:
        return ELLIPSIS
    return describe_shape(text) if room.chars == SHAPES else shorten(text, room.chars)


def fit_values(values: Mapping[str, str], room: Room) -> dict[str, str]:
    """Values by name: the first ones, each as this room shows it."""
    return {
        shorten(name, room.names): fit_value(value, room)
        for name, value in list(values.items())[: room.lines]
    }


def fit_names(answer: object, names: Sequence[str], room: Room) -> dict[str, str | UnsetType]:
    """The fields of these names that are set; `at` is a place."""
    return {
        name: (shorten_place if name == "at" else shorten)(value, room.names)
        for name in names
        if isinstance(value := getattr(answer, name), str)
    }


def fit_lines(lines: Sequence[str], room: Room) -> list[str]:
    """The first lines, each shortened."""
    most = max(room.names, room.chars)
    return [shorten(line, most) for line in lines[: room.lines]]


def fit_last_lines(lines: Sequence[str], room: Room) -> list[str]:
    """The last lines, each shortened."""
    return fit_lines(lines[len(lines) - min(len(lines), room.lines) :], room)


def change_set(value: T | UnsetType, change: Callable[[T], U]) -> U | UnsetType:
    """A value that was left out stays so; any other one is changed."""
    return UNSET if isinstance(value, UnsetType) else change(value)
