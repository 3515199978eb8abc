"""How places are written, and what is said of those that are not."""

from __future__ import annotations

import textwrap

import pytest

from holdfast.core.breakpoint_places import Place, find_first_line, is_line, parse_place
from holdfast.errors import InvalidCondition, InvalidHitCondition, InvalidLogMessage, InvalidPlace


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("cart.py:12", Place("cart.py", 12)),
        ("  src/a b/cart.py:12 ", Place("src/a b/cart.py", 12)),
        ("/a, b if c/log d/cart.py:12", Place("/a, b if c/log d/cart.py", 12)),
        ("~/a, b/cart.py:Cart.total()", Place("~/a, b/cart.py", function="Cart.total")),
        ("cart.py:12:5", Place("cart.py", 12)),
        ("/abs/cart.py:3", Place("/abs/cart.py", 3)),
        ("<string>:3", Place("<string>", 3)),
        ('File "/abs/cart.py", line 7, in total', Place("/abs/cart.py", 7)),
        ("cart.total", Place(function="cart.total")),
        ("total()", Place(function="total")),
        ("Cart.total", Place(function="Cart.total")),
        ("shop.*", Place(function="shop.*")),
        ("shop/*.total", Place(function="shop.*.total")),
        ("cart.py:total", Place("cart.py", function="total")),
        ("cart.py:Cart.total", Place("cart.py", function="Cart.total")),
        (
            "test_cart.py::TestCart::test_total[a:1]",
            Place("test_cart.py", function="TestCart.test_total"),
        ),
        ("shop.cart:total", Place(function="shop.cart.total")),
    ],
)
def test_a_place_is_a_line_or_a_function(text: str, place: Place) -> None:
    assert parse_place(text) == place


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a.py:1 if x > 3", Place("a.py", 1, condition="x > 3")),
        ("a.py:1, x > 3", Place("a.py", 1, condition="x > 3")),
        ("/a, b/c.py:1, x > 3", Place("/a, b/c.py", 1, condition="x > 3")),
        ("a, b/c.py:3", Place("a, b/c.py", 3)),
        ("./a, b/c.py:f hit 3", Place("./a, b/c.py", function="f", hit_condition="3")),
        ("f if x == 'c.py:1'", Place(function="f", condition="x == 'c.py:1'")),
        ("f log see b/c.py:1", Place(function="f", log_message="see b/c.py:1")),
        (
            "f hit 3 log as in b/c.py:f, then",
            Place(function="f", hit_condition="3", log_message="as in b/c.py:f, then"),
        ),
        (
            "m.f if x log from b/c.py:1",
            Place(function="m.f", condition="x", log_message="from b/c.py:1"),
        ),
        ("a/*.f if x == 'c.py:1'", Place(function="a.*.f", condition="x == 'c.py:1'")),
        ("f if d['a:2 '] == 1", Place(function="f", condition="d['a:2 '] == 1")),
        ("f if s == 'a log b'", Place(function="f", condition="s == 'a log b'")),
        ("f if (1 if x else 2) == 2", Place(function="f", condition="(1 if x else 2) == 2")),
        ("a.py:1 hit 3", Place("a.py", 1, hit_condition="3")),
        ("a.py:1 hit % 10 if x", Place("a.py", 1, condition="x", hit_condition="% 10")),
        ("a.py:1 if x hit >= 2", Place("a.py", 1, condition="x", hit_condition=">= 2")),
        ("a.py:1 log x={x} if any", Place("a.py", 1, log_message="x={x} if any")),
        (
            "f if x hit 2 log here: {x!r}",
            Place(function="f", condition="x", hit_condition="2", log_message="here: {x!r}"),
        ),
    ],
)
def test_a_place_has_options(text: str, place: Place) -> None:
    assert parse_place(text) == place


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "there is no place"),
        ("if x > 3", "there is no place"),
        ("cart.py", "no line"),
        ("12", "no file"),
        ("cart.py:-3", "neither a line nor"),
        ("cart.py:1 2", "neither a line nor"),
        ("not a name", "not the name of a function"),
        ("a.py:1 log", "nothing to log"),
        ("a.py:1 hit 3 4", "neither"),
    ],
)
def test_what_cannot_be_meant_is_refused(text: str, said: str) -> None:
    with pytest.raises(InvalidPlace, match=said) as raised:
        parse_place(text)
    assert raised.value.hint


def test_options_are_checked() -> None:
    with pytest.raises(InvalidCondition):
        parse_place("a.py:1 if x >")
    with pytest.raises(InvalidCondition):
        parse_place("a.py:1 if")
    with pytest.raises(InvalidHitCondition):
        parse_place("a.py:1 hit often")
    with pytest.raises(InvalidLogMessage):
        parse_place("a.py:1 log {")


def test_fields_are_those_of_a_breakpoint() -> None:
    assert parse_place("a.py:1 if x").fields == {"file": "a.py", "line": 1, "condition": "x"}


def test_only_a_file_and_a_line_are_a_line() -> None:
    assert is_line("a.py:12")
    assert not is_line("d[a:12")
    assert not is_line("x[1:2]")
    assert not is_line("total > 3")


def test_the_first_line_of_a_function_is_one_that_runs() -> None:
    source = textwrap.dedent('''\
        @decorated
        def first():
            """Text."""
            return 1

        class C:
            def method(self):
                def inner():
                    pass
                return inner

        def one(): return 1
        ''')
    assert find_first_line(source, "first") == 4
    assert find_first_line(source, "C.method") == 8
    assert find_first_line(source, "C.method.<locals>.inner") == 9
    assert find_first_line(source, "one") is None
    assert find_first_line(source, "none") is None
    assert find_first_line("def f(:", "f") is None
