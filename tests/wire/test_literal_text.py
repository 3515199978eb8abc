"""A stored value has a text to be changed and sent back if it is exactly a literal."""

from __future__ import annotations

import collections
import datetime
import math
import pickle
from decimal import Decimal
from typing import Any, NamedTuple

import dill
import pytest

from holdfast.model.value_text import parse_text
from holdfast.wire.literal_text import MAX_TEXT, format_literal


class Point(NamedTuple):
    x: int
    y: int


class Text(str):
    pass


@pytest.mark.parametrize("protocol", [2, 4, 5])
@pytest.mark.parametrize(
    "value",
    [
        *(None, True, 4, 4.0, -0.0, 10**30, "it's", "all \"quotes' ", "\ud83d\ude00", b"\x00", ""),
        *([], (), {}, set(), (1,), [1, [2.0, "x"]], {"a": {1: None}}, {1, 2}, {(1, 2): "k"}),
    ],
)
def test_a_literal_comes_back_as_it_was(value: Any, protocol: int) -> None:
    text = format_literal(pickle.dumps(value, protocol=protocol))
    assert text == repr(value)
    found = parse_text(text)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    "value",
    [
        *(math.nan, math.inf, 1j, Point(1, 2), Text("x"), Decimal("4.0"), datetime.date.today()),
        *(collections.OrderedDict(a=1), collections.Counter("a"), frozenset((1,)), bytearray(b"x")),
        *([Point(1, 2)], {"a": Text("x")}, len, int, object(), "x" * MAX_TEXT, range(3)),
    ],
)
def test_anything_else_has_no_such_text(value: Any) -> None:
    assert format_literal(dill.dumps(value)) is None


def test_what_is_no_pickle_or_refers_to_itself_has_none() -> None:
    loop: list[Any] = []
    loop.append(loop)
    assert format_literal(pickle.dumps(loop)) is None
    assert format_literal(b"nonsense") is None
    assert format_literal(b"") is None


def test_a_value_that_contains_another_again_and_again_is_not_written_out() -> None:
    value: list[Any] = []
    for _ in range(40):
        value = [value, value]
    assert format_literal(pickle.dumps(value)) is None
    assert format_literal(pickle.dumps([[1]] * 3)) == "[[1], [1], [1]]"
