"""A breakpoint in one line, by the place that people know it by."""

from __future__ import annotations

from holdfast.service.tools.tool_client import ToolClient
from holdfast.wire.plain_text import clean_line, show_count
from holdfast.wire.program_answers import BreakpointAnswer


def name_place(point: BreakpointAnswer, client: ToolClient) -> str:
    """Its place as it could be written: `shop.py:12 if x > 3`, `shop.total`, `cart.total`."""
    if point.kind == "data":
        place = f"watch {point.expression or point.data_id}"
    elif point.kind == "function":
        place = point.function or ""
    else:
        place = f"{client.show_path(point.file or '')}:{point.line}"
    options = ("if", point.condition), ("hit", point.hit_condition), ("log", point.log_message)
    return clean_line(place + "".join(f" {word} {option}" for word, option in options if option))


def explain(point: BreakpointAnswer) -> str:
    """Why it cannot stop, or what else is to be known of it. Empty: nothing."""
    parts = [] if point.enabled else ["It is off."]
    parts += [text for text in (point.message, point.warning) if text]
    if point.suggestion:
        parts.append(f"Line {point.suggestion.line} can stop.")
    return clean_line(" ".join(part if part.endswith(".") else f"{part}." for part in parts))


def describe_breakpoint(point: BreakpointAnswer, client: ToolClient) -> str:
    """All of it in one line."""
    text = f"{point.id} {name_place(point, client)}"
    text += f", {show_count(point.hits, 'hit')}" if point.hits else ""
    text += "" if point.verified else ", not verified"
    why = explain(point)
    return f"{text}: {why}" if why else text
