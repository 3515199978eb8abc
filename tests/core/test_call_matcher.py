"""Which breakpoints a call meets: names, kinds, sessions, moments, conditions, counts."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.core.call_matcher import ArmedBreakpoint, find_hit
from holdfast.errors import InvalidFilter, InvalidHitCondition
from holdfast.model.call import CallBreakpoint, CallRecord, Function, When

ADD = CallRecord(
    number=1,
    session_id="calls_00000001",
    function=Function(1, "add", alias="sum", qualname="Calculator.add", module="shop"),
    call_type="proxy",
)


def arm(**fields: Any) -> ArmedBreakpoint:
    return ArmedBreakpoint(CallBreakpoint(id="cbp_1", **fields))


def is_hit(
    point: ArmedBreakpoint, call: CallRecord = ADD, when: When = When.BEFORE, **values: Any
) -> bool:
    return find_hit([point], call, when, lambda: values) is point


@pytest.mark.parametrize(
    "name", ["add", "a*", "?dd", "[ab]dd", "*", "Calculator.add", "*.add", "shop.Calculator.add"]
)
def test_a_function_is_known_by_any_of_its_names(name: str) -> None:
    assert is_hit(arm(function=name))


@pytest.mark.parametrize("name", ["ad", "Add", "add*x", "sub", "other.Calculator.add", "sum"])
def test_other_names_are_other_functions(name: str) -> None:
    assert not is_hit(arm(function=name))


def test_every_given_field_has_to_fit() -> None:
    assert is_hit(arm(function="add", alias="s*", call_type="proxy", session_id="calls_00000001"))
    assert not is_hit(arm(function="add", alias="other"))
    assert not is_hit(arm(function="add", call_type="inline"))
    assert not is_hit(arm(function="add", session_id="calls_00000002"))
    assert not is_hit(arm(function="add", enabled=False))


def test_a_breakpoint_counts_at_its_own_moment() -> None:
    after = arm(function="add", when=When.AFTER)
    assert not is_hit(after)
    assert is_hit(after, when=When.AFTER)
    assert not is_hit(after, when=When.EXCEPTION)


def test_a_condition_decides_whether_a_call_counts() -> None:
    point = arm(function="add", condition="args[0] > 10")
    assert not is_hit(point, args=[10])
    assert point.hits == 0
    assert is_hit(point, args=[11])
    assert point.hits == 1


def test_a_hit_condition_decides_on_which_hits_something_happens() -> None:
    point = arm(function="add", condition="args[0] > 0", hit_condition="% 2")
    assert [is_hit(point, args=[number]) for number in (1, 0, 2, 3, 4)] == [
        *(False, False, True, False, True)
    ]
    assert point.hits == 4


def test_the_first_that_is_hit_acts_and_all_that_fit_are_counted() -> None:
    first, second = arm(function="add", hit_condition="2"), arm(function="*")
    acting = [find_hit([first, second], ADD, When.BEFORE, dict) for _ in range(2)]
    assert acting == [second, first]
    assert (first.hits, second.hits) == (2, 2)


def test_values_are_looked_up_once_and_only_for_a_condition() -> None:
    asked: list[int] = []

    def values() -> dict[str, Any]:
        asked.append(1)
        return {"args": [1]}

    points = [arm(function="add", condition="args[0] == 1") for _ in range(3)]
    find_hit([arm(function="add")], ADD, When.BEFORE, values)
    find_hit([arm(function="sub", condition="args[0] == 1")], ADD, When.BEFORE, values)
    assert not asked
    find_hit(points, ADD, When.BEFORE, values)
    assert len(asked) == 1


def test_what_cannot_be_read_is_refused_at_once() -> None:
    with pytest.raises(InvalidFilter):
        arm(condition="args[0] >")
    with pytest.raises(InvalidHitCondition):
        arm(hit_condition="often")
