"""Text that is safe to show: no control characters, no broken Unicode, cut to a size in bytes."""

from __future__ import annotations

import re
from typing import Any

ELLIPSIS = "…"
_ELLIPSIS_BYTES = 3
_BRACKETS = 3
_NEWLINE_COST = 4
"""A new line is two bytes in JSON, and is indented in a report's text."""

_ANSI = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)?"
    r"|[PX^_][^\x1b]{0,4096}(?:\x1b\\)?|[ -/]*[0-~])"
)
# Control characters, what reorders a line, what ends one for some readers, and half characters.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]"
)
_OVERWRITTEN = re.compile(r"[^\n]*\r(?!\n)(?=[^\n])")


def clean(text: str) -> str:
    """The text without terminal sequences, and with control characters escaped. Lines stay."""
    if text.isascii() and text.isprintable():
        return text
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    return _UNSAFE.sub(_escape, text)


def clean_line(text: str) -> str:
    """The same on one line."""
    return clean(text).replace("\n", "\\n")


def clean_all(value: Any) -> Any:
    """A document of JSON whose texts are clean, names included."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, (list, tuple)):
        return [clean_all(one) for one in value]
    if isinstance(value, dict):
        return {clean(name): clean_all(one) for name, one in value.items()}
    return value


def clean_output(text: str) -> str:
    """What a program wrote, as a terminal would show it: a line that was overwritten is gone."""
    if "\r" in text:
        text = _OVERWRITTEN.sub("", text.replace("\r\n", "\n")).replace("\r", "")
    return clean(text)


def _escape(found: re.Match[str]) -> str:
    code = ord(found.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def measure(text: str) -> int:
    """How many bytes a clean text needs, in JSON or in a report's text, whichever is larger."""
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    size += text.count('"') + text.count("\\") + text.count("\t")
    return size + _NEWLINE_COST * text.count("\n")


def fits(text: str, limit: int) -> bool:
    return len(text) <= limit and measure(text) <= limit


def cut(text: str, limit: int) -> str:
    """The beginning of a text, within so many bytes."""
    return text if fits(text, limit) else _cut(text, limit, 1) + ELLIPSIS


def cut_start(text: str, limit: int) -> str:
    """The end of a text, within so many bytes."""
    return text if fits(text, limit) else ELLIPSIS + _cut(text, limit, -1)


def cut_value(text: str, shape: str | None, limit: int) -> str:
    """The beginning of a value, and its shape if there is room for both."""
    if shape is None or fits(text, limit) or measure(shape) > limit // 2:
        return cut(text, limit)
    return f"{cut(text, limit - measure(shape) - _BRACKETS)} ({shape})"


def _cut(text: str, limit: int, direction: int) -> str:
    room = limit - _ELLIPSIS_BYTES
    length = max(0, min(len(text), room))
    while length > 0:
        part = text[:length] if direction > 0 else text[-length:]
        size = measure(part)
        if size <= room:
            return part
        length = min(length - 1, length * room // size)
    return ""


def show_size(count: int) -> str:
    """A number of bytes or characters in few characters, such as `12 MB`."""
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= 10 * size:
            return f"{count // size} {unit}"
    return str(count)


def show_count(count: int, noun: str) -> str:
    """`1 function`, `2 functions`."""
    return f"{count} {noun}" + ("" if count == 1 else "es" if noun.endswith("s") else "s")
