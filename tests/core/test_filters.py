"""The filter language: what it takes, what it refuses and where, and that it never raises."""

from __future__ import annotations

import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core import filters
from holdfast.core.filters import NOTHING, Arguments, LazyValue, ParameterValues, Unknown
from holdfast.errors import InvalidFilter

PARAMETERS = {
    "item": "tea",
    "count": 3,
    "rest": Arguments([4, 5]),
    "order": Unknown(why="order is an Order", attributes=lambda: {"total": 12, "lines": [1]}),
    "day": datetime.date(2026, 1, 2),
    "pair": (1, 2),
    "missing": NOTHING,
    "status": "open",
}


def call(**values: Any) -> dict[str, Any]:
    return {
        **dict.fromkeys(filters.NAMES),
        "params": ParameterValues(
            lambda: dict(PARAMETERS), lambda name: Unknown(why=f"no parameter {name}")
        ),
        "args": [12, "text", [1, 2], Unknown(7)],
        "kwargs": {"c": 5, "odd": NOTHING},
        "function": "add",
        "call_type": "proxy",
        "status": "exception",
        "result": NOTHING,
        "exception": {"type": "ValueError", "message": "it timed out"},
        "duration": 0.25,
        "thread": "MainThread",
        **values,
    }


def matches(text: str, **values: Any) -> bool:
    return filters.parse(text).matches(call(**values))


@pytest.mark.parametrize(
    "text",
    [
        "args[0] > 10",
        "kwargs.get('c') == 5",
        "kwargs['c'] * 2 + 1 == 11",
        "kwargs.get('missing', 3) == 3",
        "kwargs.get('missing') is None",
        "'c' in kwargs and 'd' not in kwargs",
        "function == 'add' or function == 'sub'",
        "len(args) == 4 and len(args[1]) == 4 and len(args[3]) == 7",
        "args[-4] % 5 == 2",
        "args[2][1] in (1, 2)",
        "10 < args[0] <= 12",
        "not args[0] < 10",
        "-args[0] == -12",
        "exception['type'] == 'ValueError' and 'timed' in exception['message']",
        "duration >= 0.1",
        "thread == 'MainThread' and task is None",
        "status != 'success'",
        "  args[0] == 12  ",
        "args[0] in [11, 12]",
        "args[0] / 0 == 1 or True",
    ],
)
def test_what_is_so(text: str) -> None:
    assert matches(text)


@pytest.mark.parametrize(
    "text",
    [
        "args[9] == 1",
        "args[9] != 1",
        "args[3] == 1",
        "args[3] != 1",
        "args[3][0] < 5",
        "result == 1",
        "result > 1",
        "args[0] > 'text'",
        "args[0] in 5",
        "args[0][1] == 1",
        "args[0] / 0 == 1",
        "args[1] * 2 == 'texttext'",
        "kwargs.get('odd') == 1",
        "kwargs.get(1) == 1",
        "len(args[0]) == 1",
        "result",
        "not 1",
        "2 < args[0] < 3",
    ],
)
def test_what_is_not_known_is_not_so(text: str) -> None:
    assert not matches(text)


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        ("args[0] >", 10),
        (" args[0] >", 11),
        ("args[0] = 5", 9),
        ("", 1),
        ("item == 'thé' and open(1)", 19),
        ("(item ==\n 'thé' and\n open(1))", 22),
        ("('\u2028' == open(1))", 9),
        ("args.first == 1", 1),
        ("function.upper == 1", 1),
        ("'text'.upper == 1", 1),
        ("args.append(1)", 1),
        ("kwargs.pop('c')", 1),
        ("__import__('os')", 1),
        ("function.upper()", 1),
        ("args[0].__class__", 1),
        ("open('x')", 1),
        ("[x for x in args]", 1),
        ("lambda: 1", 1),
        ("args[0] ** 9", 1),
        ("args[1:2]", 6),
        ("f'{args}'", 1),
        ("len(args, 1)", 1),
        ("(x := 1)", 2),
    ],
)
def test_what_is_no_filter_is_refused_with_its_place(text: str, offset: int | None) -> None:
    with pytest.raises(InvalidFilter) as refused:
        filters.parse(text)
    assert refused.value.short == "invalid_condition"
    if offset is not None:
        assert refused.value.details["offset"] == offset


@pytest.mark.parametrize("text", ["1" + "+1" * 2000, "(" * 900 + ")" * 900, "not " * 499 + "1"])
def test_a_filter_is_of_bounded_size(text: str) -> None:
    with pytest.raises(InvalidFilter):
        filters.parse(text)


def test_arithmetic_is_of_bounded_size() -> None:
    assert not matches("*".join(["9999999999"] * 40) + " > 0")
    assert not matches("args[1] * 99999999 == 1")


@given(st.text(max_size=60))
def test_any_text_is_a_filter_or_is_refused(text: str) -> None:
    try:
        found = filters.parse(text)
    except InvalidFilter:
        return
    found.matches(call())


_ATOMS = st.sampled_from(
    ["args", "kwargs", "args[0]", "args[3]", "result", "1", "'a'", "None", "exception", "[1, 'b']"]
)


@given(
    st.recursive(
        _ATOMS,
        lambda inner: st.one_of(
            st.tuples(inner, st.sampled_from(["<", "==", "in", "and", "+", "%", "//"]), inner).map(
                lambda parts: f"({' '.join(parts)})"
            ),
            inner.map(lambda part: f"len({part})"),
            st.tuples(inner, inner).map(lambda parts: f"{parts[0]}[{parts[1]}]"),
        ),
        max_leaves=6,
    )
)
def test_no_filter_raises_whatever_the_values(text: str) -> None:
    assert filters.parse(text).matches(call()) in (True, False)


# -- values that JSON does not know, and what cannot be told ---------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("args[0] == (1, 2)", (1, 2)),
        ("args[0] != (1, 2)", [1, 2]),
        ("args[0][1] == 2 and len(args[0]) == 2", (1, 2)),
        ("args[0] == {1, 2} and 2 in args[0]", {1, 2}),
        ("args[0] == set()", set()),
        ("args[0] == b'x' and args[0] < b'y'", b"x"),
        ("args[0] == {1: 'a', 'k': [None]}", {1: "a", "k": [None]}),
        ("args[0][1] == 'a'", {1: "a"}),
        ("args[0] > 10", 2**300),
        ("args[0] > 1e308", float("inf")),
        ("args[0] != args[0]", float("nan")),
        ("args[0] == Decimal('1.50') and args[0] < 2", Decimal("1.5")),
        ("args[0] * 2 == 3", Decimal("1.5")),
        ("args[0] == Fraction(1, 3)", Fraction(1, 3)),
        ("date(2026, 1, 1) < args[0] <= date(2026, 1, 2)", datetime.date(2026, 1, 2)),
        ("args[0] > datetime(2026, 1, 1, hour=3)", datetime.datetime(2026, 1, 2)),
        ("args[0] == timedelta(seconds=5)", datetime.timedelta(seconds=5)),
    ],
)
def test_values_of_python_are_compared_as_python_does(text: str, value: Any) -> None:
    assert filters.parse(text).decide(call(args=Arguments([value]))) == (True, None)


def test_all_arguments_are_a_tuple_or_a_list() -> None:
    given_ = call(args=Arguments([1, 2]), kwargs=Arguments({"c": 5}))
    for text in ("args == (1, 2)", "args == [1, 2]", "kwargs == {'c': 5}", "2 in args"):
        assert filters.parse(text).matches(given_)
    assert not filters.parse("args != (1, 2)").matches(given_)


@pytest.mark.parametrize(
    "text",
    [
        *("args[0] == 1", "args[0] != 1", "not args[0] == 1", "args[0] in (1, 2)", "args[0]"),
        *("args[0] + 1 > 2", "args[0][1] == 2", "args == (1, 2)", "args[1] == [1, 2]"),
        *("args[0] == 1 or status == 'success'", "{args[0]} == {1}", "args[2][0] == 1"),
    ],
)
def test_what_depends_on_the_unknown_is_undecided(text: str) -> None:
    unknown = Unknown(why="args[0] is a Cart")
    given_ = [1, unknown] if "args ==" in text else [unknown, [1, unknown], unknown]
    values = call(args=Arguments(given_))
    assert filters.parse(text).decide(values) == (False, "args[0] is a Cart")


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("args[0] == 1 and status == 'success'", False),
        ("args[0] == 1 or status == 'exception'", True),
        ("args[1] == [2, 2]", False),
        ("args[1][0] == 1", True),
        ("len(args[1]) == 2 and len(args[0]) == 7", True),
        ("'c' in kwargs", True),
        ("args[9] == 1", False),
    ],
)
def test_what_does_not_depend_on_the_unknown_is_decided(text: str, matches: bool) -> None:
    unknown = Unknown(7, "args[0] is a Cart")
    values = call(args=Arguments([unknown, [1, unknown]]), kwargs=Arguments({"c": unknown}))
    assert filters.parse(text).decide(values) == (matches, None)


def test_values_are_looked_at_once_and_only_if_needed() -> None:
    looked: list[int] = []

    def look() -> int:
        looked.append(1)
        return 3

    values = call(
        args=Arguments([LazyValue(look, lambda: 4)]),
        kwargs=Arguments({"k": LazyValue(look, lambda: 0)}),
    )
    assert filters.parse("len(args[0]) == 4 and len(args) == 1 and 'k' in kwargs").matches(values)
    assert not looked
    assert filters.parse("args[0] == 3 and args[0] < 4").matches(values)
    assert len(looked) == 1


@pytest.mark.parametrize(
    "text", ["date(2026, 13, 1) == 1", "Decimal('x') > 1", "date(args[0]) > 1"]
)
def test_a_value_that_cannot_be_made_is_refused(text: str) -> None:
    with pytest.raises(InvalidFilter):
        filters.parse(text)


# -- parameters and attributes ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        *("item == 'tea'", "count > 2 and item != 'cake'", "rest == (4, 5)", "rest[1] == 5"),
        *("len(rest) == 2", "order.total > 10", "order.lines[0] == 1", "day.year == 2026"),
        *("params['item'] == 'tea'", "params.get('nothing', 1) == 1", "'item' in params"),
        *("status == 'exception' and params['status'] == 'open'", "item in ('tea', 'milk')"),
    ],
)
def test_parameters_are_known_by_name(text: str) -> None:
    assert filters.parse(text).decide(call()) == (True, None)


@pytest.mark.parametrize("text", ["missing == 1", "count.real == 3", "params['nobody'] == 1"])
def test_a_parameter_without_a_value_matches_nothing(text: str) -> None:
    assert filters.parse(text).decide(call()) == (False, None)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("nobody == 1", "no parameter nobody"),
        ("order == 1", "order is an Order"),
        ("order.tax == 1", "its attribute 'tax' was not stored"),
        ("pair.x == 1", "names of a tuple's items"),
    ],
)
def test_what_is_not_known_of_a_parameter_is_undecided_and_says_why(text: str, why: str) -> None:
    matches, reason = filters.parse(text).decide(call())
    assert not matches
    assert why in str(reason)


def test_a_filter_says_which_names_are_parameters() -> None:
    parsed = filters.parse("item == 'tea' and status == 'success' and kwargs.get('c') == order.x")
    assert parsed.parameters == ("item", "order")
    assert parsed.own_names == ("status", "kwargs")


def test_a_language_without_parameters_refuses_names_and_attributes() -> None:
    for text in ("nobody == 1", "tool.x == 1"):
        with pytest.raises(InvalidFilter):
            filters.parse(text, ("tool", "input"))
