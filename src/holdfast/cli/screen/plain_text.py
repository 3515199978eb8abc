"""Text of the program that is debugged, made safe for a terminal."""

from __future__ import annotations

_TAB_SIZE = 4
_DIRECTION_MARKS = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_VISIBLE: dict[int, int | str] = {
    **{code: 0x2400 + code for code in range(0x20)},
    0x7F: 0x2421,
    # A terminal may take these for the beginning of a command.
    **{code: f"\\x{code:02x}" for code in range(0x80, 0xA0)},
    # They would show a text in another order than it has.
    **{code: f"\\u{code:04x}" for code in _DIRECTION_MARKS},
    # Half a character, which no terminal can be sent.
    **dict.fromkeys(range(0xD800, 0xE000), 0xFFFD),
}


def show_controls(text: str) -> str:
    """One line, with signs in the place of control characters."""
    return text.expandtabs(_TAB_SIZE).translate(_VISIBLE)


def shorten(text: str, limit: int) -> str:
    """At most so many characters, on one line."""
    # What is far behind the limit need not be looked at.
    shown = show_controls(text[: limit + 1])
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"
