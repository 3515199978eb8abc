"""Values as people type them."""

from __future__ import annotations

import math
from typing import Any

import pytest

from holdfast.model.value_text import NotAValue, parse_text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("4.0", 4.0),
        ("4", 4),
        (" -1 ", -1),
        ("'tea'", "tea"),
        ('"tea"', "tea"),
        ('"true"', "true"),
        ("true", True),
        ("True", True),
        ("null", None),
        ("None", None),
        ("(1, 2)", (1, 2)),
        ("{'a', b'b'}", {"a", b"b"}),
        ('{"a": [true, null, 4.0]}', {"a": [True, None, 4.0]}),
        ("{'a': 1}", {"a": 1}),
        ("1e999", math.inf),
        (r"'\d'", r"\d"),
    ],
)
def test_a_literal_is_taken_first_and_json_otherwise(text: str, value: Any) -> None:
    found = parse_text(text)
    assert (found, type(found)) == (value, type(value))


def test_what_is_json_anyway_keeps_the_escapes_of_json() -> None:
    assert parse_text(r'"\ud83d\ude00 \/"', is_json=True) == "😀 /"
    assert parse_text("(1, 2)", is_json=True) == (1, 2)
    assert repr(parse_text("4.0", is_json=True)) == "4.0"


@pytest.mark.parametrize(
    "text", ["", "tea", "NaN", "f()", "{'a': true}", "[1", "1 +", "[" * 10_000, "9" * 10_000]
)
def test_what_is_neither_is_shown(text: str) -> None:
    with pytest.raises(NotAValue) as caught:
        parse_text(text)
    assert str(caught.value).startswith("neither a Python literal nor JSON: ")
    assert text[:20] in str(caught.value)
    assert len(str(caught.value)) < 300
    assert "a text in quotes" in caught.value.hint


def test_a_bare_word_is_told_to_want_quotes() -> None:
    with pytest.raises(NotAValue) as caught:
        parse_text(" green tea ")
    assert caught.value.hint.startswith("If it is text, put it in quotes: 'green tea'. ")


def test_a_long_literal_is_refused_and_json_may_be_longer() -> None:
    text = "[" + "1, " * 50_000 + "2]"
    assert len(parse_text(text)) == 50_001  # it is JSON, too
    with pytest.raises(NotAValue):
        parse_text(text.replace("[", "(").replace("]", ")"))
