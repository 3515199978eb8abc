"""The filter language: what it takes, what it refuses and where, and that it never raises."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core import filters
from holdfast.core.filters import NOTHING, Unknown
from holdfast.errors import InvalidFilter


def call(**values: Any) -> dict[str, Any]:
    return {
        **dict.fromkeys(filters.NAMES),
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
        ("args[0] >", None),
        ("args[0] = 5", None),
        ("", None),
        ("nobody == 1", 1),
        ("1 == nobody", 6),
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
        ("  nobody", 3),
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
