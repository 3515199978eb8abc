from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.core.logpoints import LogExpression, parse
from holdfast.errors import InvalidLogMessage

CONVERT: dict[str | None, Callable[[Any], Any]] = {
    "r": repr,
    "s": str,
    "a": ascii,
    None: lambda value: value,
}


def render(text: str, **names: Any) -> str:
    """Play the part of the target: evaluate each expression, then format it."""
    return "".join(
        part
        if isinstance(part, str)
        else format(CONVERT[part.conversion](eval(part.expression, names)), part.spec)
        for part in parse(text)
    )


def test_text_and_expressions_come_out_in_order() -> None:
    assert parse("x = {x}, y = {y + 1}!") == (
        "x = ",
        LogExpression("x"),
        ", y = ",
        LogExpression("y + 1"),
        "!",
    )


def test_a_message_may_have_no_expression_or_nothing_at_all() -> None:
    assert parse("here") == ("here",)
    assert parse("") == ()


def test_doubled_braces_are_literal_and_join_their_neighbours() -> None:
    assert parse("a {{b}} c") == ("a {b} c",)
    assert parse("{{{x}}}") == ("{", LogExpression("x"), "}")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{x!r:>5}", LogExpression("x", "r", ">5")),
        ("{x!s}", LogExpression("x", "s")),
        ("{x:.2f}", LogExpression("x", None, ".2f")),
        ("{x:}", LogExpression("x")),
        ("{when:%H:%M!}", LogExpression("when", None, "%H:%M!")),
        ("{ x }", LogExpression("x")),
        ("{a != b}", LogExpression("a != b")),
        ("{a!=b!r}", LogExpression("a!=b", "r")),
        ("{ {1: 2}[1] }", LogExpression("{1: 2}[1]")),
        ("{ {1: 2}}", LogExpression("{1: 2}")),
        ("{a[1:2]:>3}", LogExpression("a[1:2]", None, ">3")),
        ("{d['}']}", LogExpression("d['}']")),
        ("{d[':!{']}", LogExpression("d[':!{']")),
        ("{'it\\'s }'}", LogExpression("'it\\'s }'")),
        ('{"""a "quoted" }"""}', LogExpression('"""a "quoted" }"""')),
        ("{f'{x!r:>5}'}", LogExpression("f'{x!r:>5}'")),
        ("{(lambda v: v)(x)}", LogExpression("(lambda v: v)(x)")),
        ("{lambda v: v:>5}", LogExpression("lambda v: v", None, ">5")),
        ("{lambda: lambda: 0}", LogExpression("lambda: lambda: 0")),
        ("{a if b else c}", LogExpression("a if b else c")),
        ("{[y for y in x if y != 3]}", LogExpression("[y for y in x if y != 3]")),
        ("{a, b}", LogExpression("a, b")),
        ("{'#'}", LogExpression("'#'")),
        ("{lambdas:d}", LogExpression("lambdas", None, "d")),
    ],
)
def test_an_expression_ends_where_an_f_string_would_end_it(
    text: str, expected: LogExpression
) -> None:
    assert parse(text) == (expected,)


@pytest.mark.parametrize(
    "text",
    [
        *("{x}", "{x!r}", "{x=}", "{x = }", "{x=!s}", "{x=:>8}", "{x!r:>8}", "{ {1: x}[1] }"),
        *("{x == 'a'}", "{x != 'a'!r}", "{{{x}}}", "{x <= 'b'}", "{len(x):03d}", "a{x}b{x}c"),
    ],
)
def test_a_message_means_what_the_same_f_string_means(text: str) -> None:
    assert render(text, x="a") == eval("f" + repr(text).replace("\\'", "'"), {"x": "a"})


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("a } b", 2),
        ("a {x", 2),
        ("{", 0),
        ("{}", 1),
        ("{ }", 1),
        ("{!r}", 1),
        ("x {x!z}", 4),
        ("x {x!rr}", 4),
        ("{x!}", 2),
        ("{(x}", 3),
        ("{x:{w}}", 3),
        ("{x # y}", 3),
        ("{{1:2}[1]}", 5),
        ("ab {import os}", 4),
        ("{x)}", 2),
        ("{'a}", 1),
    ],
)
def test_what_cannot_be_read_is_refused_where_it_stands(text: str, position: int) -> None:
    with pytest.raises(InvalidLogMessage) as caught:
        parse(text)
    assert caught.value.details["log_message"] == text
    assert caught.value.details["position"] == position


@pytest.mark.parametrize("text", ["ab { a b }", "ab {x = 3}", "ab {x ==}", "ab {1 +}"])
def test_a_bad_expression_is_refused_somewhere_inside_it(text: str) -> None:
    # Where exactly differs between versions of Python.
    with pytest.raises(InvalidLogMessage, match="SyntaxError") as caught:
        parse(text)
    assert text.index("{") < caught.value.details["position"] <= text.index("}")


@settings(deadline=None)
@given(st.text())
def test_any_text_survives_with_its_braces_doubled(text: str) -> None:
    doubled = text.replace("{", "{{").replace("}", "}}")
    assert "".join(part for part in parse(doubled) if isinstance(part, str)) == text


@settings(deadline=None)
@given(st.text(alphabet="{}[]()!=:'\"\\ x1,r#", max_size=30))
def test_any_message_is_either_read_or_refused(text: str) -> None:
    position = 0
    try:
        assert all(parse(text))
    except InvalidLogMessage as refused:
        position = refused.details["position"]
    assert 0 <= position <= len(text)
