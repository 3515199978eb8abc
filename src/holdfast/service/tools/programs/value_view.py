"""A value that an agent asks for: as text, and unfolded a page at a time."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from holdfast.service.programs.program_session import ProgramSession
from holdfast.service.tools.reports.report_values import (
    Variable,
    list_shapes,
    show_shape,
    show_value,
)
from holdfast.wire.program_answers import ItemPage
from holdfast.wire.tool_answers import BYTES_PER_TOKEN

_SHARE = 0.6
"""How much of an answer the values may fill; the rest says where the program is."""
_MIN_ITEMS = 8
"""Items are shown so short that this many fit."""
_BYTES_AROUND = 12
"""What an item costs besides its name and its value: quotes, brackets, spaces."""
_PLAIN = frozenset(
    {
        *("int", "float", "complex", "bool", "str", "bytes", "bytearray", "NoneType"),
        *("list", "tuple", "dict", "set", "frozenset"),
    }
)


@dataclass
class ExpandedValue:
    """A page of a value's items, by the names that follow its own: `[0]`, `.total`."""

    values: dict[str, str] = field(default_factory=dict)
    shapes: dict[str, str] = field(default_factory=dict)
    """What can be said of the long ones in few words, by their text."""
    omitted: list[str] = field(default_factory=list)


def measure_room(budget_tokens: int) -> int:
    """How many bytes of values fit into an answer of so many tokens."""
    return int(budget_tokens * BYTES_PER_TOKEN * _SHARE)


def quote(text: str) -> str:
    """A text as an argument of a call that is shown."""
    return json.dumps(text, ensure_ascii=False)


def show_typed(value: Variable) -> str:
    """A value as text, with its type where the text does not tell."""
    text, kind = show_value(value), str(value.get("type", ""))
    is_told = kind in _PLAIN or not kind or kind.rpartition(".")[2] in text
    return text if is_told else f"{text} ({kind})"


async def expand_value(
    session: ProgramSession, expression: str, frame: int, start: int, budget_tokens: int
) -> ExpandedValue:
    """Unfold a value: itself, and a page of what it holds. Looking runs no property of it."""
    room = measure_room(budget_tokens)
    longest = max(40, room // _MIN_ITEMS)
    whole = await session.inspection.evaluate(expression, frame, "watch", max_chars=longest)
    reference = whole.get("variable_reference") or 0
    if not reference:
        return ExpandedValue({expression: show_typed(whole)})
    is_text = not whole.get("expandable")
    count = room if is_text else room // _BYTES_AROUND
    page = await session.inspection.items(
        reference, start, count, max_chars=None if is_text else longest
    )
    if is_text:
        return _build_text(expression, page, start)
    expanded = ExpandedValue({expression: show_shape(whole)}, list_shapes(page.items))
    shown = _add_items(expanded, page, whole, room)
    _say_what_is_left(expanded, expression, start + shown, page.total)
    return expanded


def _build_text(expression: str, page: ItemPage, start: int) -> ExpandedValue:
    expanded = ExpandedValue()
    end = start
    for part in page.items:
        end = start + part.get("length", 0)
        expanded.values[f"{expression}[{start}:{end}]"] = show_value(part)
    _say_what_is_left(expanded, expression, end, page.total, "characters")
    return expanded


def _add_items(expanded: ExpandedValue, page: ItemPage, whole: Mapping[str, Any], room: int) -> int:
    """Add as many items as there is room for, at least one. Returns how many."""
    shown = 0
    for number, item in enumerate(page.items, page.start):
        name = _name_item(item, is_item=number < whole.get("indexed", 0))
        value = show_value(item)
        room -= len(name.encode()) + len(value.encode()) + _BYTES_AROUND
        if room < 0 and shown:
            break
        expanded.values[name] = value
        shown += 1
    return shown


def _name_item(item: Mapping[str, Any], *, is_item: bool) -> str:
    """What stands after the name of the whole to get the item. A named tuple's have names."""
    name = item["name"]
    is_named = "index" in item and not name.isdecimal()
    return f"[{name}]" if is_item and not is_named else f".{name}"


def _say_what_is_left(
    expanded: ExpandedValue, expression: str, end: int, total: int, what: str = "items"
) -> None:
    if end < total:
        expanded.omitted.append(
            f"{what} {end}-{total - 1} of {total}: "
            f"debug_inspect(expand={quote(expression)}, start={end})"
        )
