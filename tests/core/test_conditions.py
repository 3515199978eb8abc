from __future__ import annotations

import pytest

from holdfast.core.conditions import check
from holdfast.errors import InvalidCondition


@pytest.mark.parametrize(
    "text",
    [
        *("i > 100", "  i > 100\n", "name == 'a b'", "(n := len(x)) > 3", "x is 1"),
        *("any(y for y in x)", "lambda: 0", "f'{x!r}' == ''", "'\\d' in x", "x > 1  # big"),
    ],
)
def test_an_expression_is_a_condition_and_warns_about_nothing(text: str) -> None:
    check(text)


@pytest.mark.parametrize(
    "text",
    [
        *("", "   ", "i >", "i = 3", "import os", "x; y", "x\ny", "(yield)", "await x", "return"),
        *("x\0y", "'\ud800", "(" * 1000, "x if y", "9" * 5000 + "x"),
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(InvalidCondition) as caught:
        check(text)
    assert caught.value.details["condition"] == text
    assert caught.value.details["error"].startswith("SyntaxError: ")


def test_the_offset_counts_in_the_text_as_it_was_given() -> None:
    with pytest.raises(InvalidCondition) as plain:
        check("a b")
    with pytest.raises(InvalidCondition) as indented:
        check("   a b")
    assert indented.value.details["offset"] == plain.value.details["offset"] + 3


def test_an_assignment_is_told_from_a_comparison() -> None:
    with pytest.raises(InvalidCondition) as caught:
        check("i = 3")
    assert "`==`" in caught.value.hint
