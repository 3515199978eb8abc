from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.core.hit_conditions import HitCondition, parse
from holdfast.errors import InvalidHitCondition


@pytest.mark.parametrize(
    ("text", "stops"),
    [
        ("3", [3]),
        (3, [3]),
        ("== 3", [3]),
        ("==3", [3]),
        ("> 3", [4, 5, 6]),
        (">= 3", [3, 4, 5, 6]),
        ("< 3", [1, 2]),
        ("<= 3", [1, 2, 3]),
        ("% 3", [3, 6]),
        (" %3 ", [3, 6]),
        ("007", []),
        ("0", []),
    ],
)
def test_a_hit_condition_stops_on_its_hits(text: str | int, stops: list[int]) -> None:
    assert [hits for hits in range(1, 7) if parse(text).matches(hits)] == stops


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "x", "-1", "> -1", "= 3", "=> 3", "!= 3", "3 4", "3.0", "1e3", "% 0", "%00"),
        *("== ", "> > 3", "i > 3", "٣", "3\0", "9" * 5000, -1, True, False, 2.5, None, [3]),
    ],
)
def test_anything_else_is_refused_with_what_was_sent(text: Any) -> None:
    with pytest.raises(InvalidHitCondition) as caught:
        parse(text)
    assert caught.value.details == {"hit_condition": text}


@settings(deadline=None)
@given(st.sampled_from(["==", ">", ">=", "<", "<=", "%"]), st.integers(1, 10**12))
def test_a_hit_condition_reads_back_as_itself(op: str, count: int) -> None:
    assert parse(str(HitCondition(op, count))) == HitCondition(op, count)


def test_a_plain_number_is_written_out() -> None:
    assert str(parse("3")) == "== 3"
    assert str(parse("%2")) == "% 2"
