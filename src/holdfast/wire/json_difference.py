"""Where two requests or answers of an agent differ, for people. Random ids do not count."""

from __future__ import annotations

import json
from typing import Any

from holdfast.wire import agent_lines

_MAX_CHARS = 120
_CONTEXT_CHARS = 40


def describe_difference(expected: Any, now: Any, where: str = "") -> str:
    """The first place in which they differ."""
    if type(expected) is type(now):
        if isinstance(expected, dict):
            for name in [*expected, *(name for name in now if name not in expected)]:
                inside = f"{where}.{name}" if where else str(name)
                if name not in now:
                    return f"{inside} is missing; it was {_shorten(expected[name])}"
                if name not in expected:
                    return f"{inside} is new: {_shorten(now[name])}"
                if expected[name] != now[name] and not agent_lines.is_random(name, now[name]):
                    return describe_difference(expected[name], now[name], inside)
        if isinstance(expected, list):
            for at, (one, other) in enumerate(zip(expected, now)):  # noqa: B905 - lengths differ
                # To compare is quicker than to make keys, and most of a conversation is the same.
                if one != other and agent_lines.loose_key(one) != agent_lines.loose_key(other):
                    return describe_difference(one, other, f"{where}[{at}]")
            if len(expected) != len(now):
                return f"{where or 'it'} has {len(now)} items, not {len(expected)}"
        if isinstance(expected, str) and min(len(expected), len(now)) > _MAX_CHARS:
            return _describe_texts(expected, now, where)
    return f"{where or 'it'} was {_shorten(expected)} and is {_shorten(now)}"


def _describe_texts(expected: str, now: str, where: str) -> str:
    """Long texts are shown from a little before the place where they part."""
    pairs = zip(expected, now)  # noqa: B905 - lengths differ
    at = next((at for at, (one, other) in enumerate(pairs) if one != other), -1)
    at = at if at >= 0 else min(len(expected), len(now))
    start = max(0, at - _CONTEXT_CHARS)
    mark = "…" if start else ""
    was, new = (_shorten(f"{mark}{text[start:]}") for text in (expected, now))
    return f"{where or 'it'}, from character {at + 1} on, was {was} and is {new}"


def _shorten(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= _MAX_CHARS else f"{text[: _MAX_CHARS - 3]}…"
