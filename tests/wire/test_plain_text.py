"""Text that is safe to show, within a size."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.wire.plain_text import clean, clean_line, clean_output, cut, cut_start, measure


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;a title\x07text", "text"),
        ("bell\x07 null\x00", "bell\\x07 null\\x00"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("\ud800 half", "\\ud800 half"),
        ("café 🐍", "café 🐍"),
    ],
)
def test_control_characters_are_escaped_and_colours_dropped(text: str, shown: str) -> None:
    assert clean(text) == shown


def test_a_name_stays_on_one_line() -> None:
    assert clean_line("a\nnext: b") == "a\\nnext: b"


def test_output_is_shown_as_a_terminal_would() -> None:
    assert clean_output("10%\r50%\r100%\r\ndone\r\n") == "100%\ndone\n"


@given(st.text().map(clean), st.integers(3, 60))
def test_a_text_is_cut_to_its_size_in_bytes(text: str, limit: int) -> None:
    for part in (cut(text, limit), cut_start(text, limit)):
        assert measure(part) <= limit
        assert len(json.dumps(part, ensure_ascii=False).encode()) - 2 <= limit
        assert part == text or "…" in part
