"""Where an agent's loop is to stop: breakpoints, as plain values."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.core.agent_breakpoints import (
    ERROR,
    MODEL,
    TOOL,
    AgentBreakpoint,
    Moment,
    parse_breakpoint,
)
from holdfast.errors import InvalidInput


def point(**data: Any) -> AgentBreakpoint:
    return parse_breakpoint(data, "bp-1")


def moment(at: str = TOOL, name: str = "write", **more: Any) -> Moment:
    given = more.pop("input", {"path": "a.txt"})
    values = {"iteration": 1, "tokens": 0, "texts": lambda: [str(given)], **more}
    return Moment(at=at, name=name, input=given, **values)


def test_a_tool_is_met_by_its_name_or_a_glob() -> None:
    assert point(on="tool", name="write").is_hit(moment())
    assert point(on="tool", name="wr*").is_hit(moment())
    assert not point(on="tool", name="read").is_hit(moment())
    assert not point(on="tool", name="write").is_hit(moment(at=MODEL))


def test_both_shapes_mean_the_same() -> None:
    one, other = point(on="iteration", count=3), point(type="iteration", condition=3)
    assert one.to_json() == other.to_json()
    assert one.to_json()["condition"] == 3
    assert (
        point(type="pattern", condition="rm").to_json() == point(on="pattern", regex="rm").to_json()
    )


def test_an_iteration_is_passed_once() -> None:
    third = point(on="iteration", count=3)
    hits = [third.is_hit(moment(at=MODEL, iteration=number)) for number in (2, 3, 3, 4)]
    assert hits == [False, True, False, False]


def test_tokens_are_enough_once() -> None:
    enough = point(on="tokens", count=100)
    assert [enough.is_hit(moment(at=MODEL, tokens=n)) for n in (99, 100, 200)] == [
        *(False, True, False)
    ]


def test_an_error_is_met_where_it_happened() -> None:
    error = {"type": "ValueError", "message": "no", "of": TOOL}
    failed = moment(at=ERROR, error=error)
    assert point(on="error").is_hit(failed)
    assert point(on="error", name="write").is_hit(failed)
    assert not point(on="error", name="read").is_hit(failed)
    assert point(on="error", condition="error['type'] == 'ValueError'").is_hit(failed)
    assert not point(on="condition", condition="tool == 'write'").is_hit(failed)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("input['path'] == 'a.txt'", True),
        ("input.get('mode', 'r') == 'w'", False),
        ("'.txt' in input['path'] and iteration < 5", True),
        ("tool == 'write' and model is None", True),
        ("input['missing']['deeper'] == 1", False),
        ("tokens > 10", False),
    ],
)
def test_a_condition_is_over_what_is_about_to_happen(condition: str, expected: bool) -> None:
    assert point(on="condition", condition=condition).is_hit(moment()) is expected


def test_hits_are_counted_where_everything_else_is_met() -> None:
    every_other = point(on="tool", name="write", hitCondition="% 2")
    found = [every_other.is_hit(moment(name=name)) for name in ("write", "read", "write", "write")]
    assert found == [False, False, True, False]
    assert every_other.to_json()["hits"] == 3


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"on": "tool", "name": ""},
        {"on": "iteration", "count": 0},
        {"on": "iteration", "count": True},
        {"on": "pattern", "regex": "["},
        {"on": "pattern", "regex": "x" * 2000},
        {"on": "condition"},
        {"on": "condition", "condition": "args[0] > 1"},
        {"on": "tool", "name": "x", "hitCondition": "sometimes"},
    ],
)
def test_what_makes_no_sense_is_refused(data: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        parse_breakpoint(data, "bp-1")
