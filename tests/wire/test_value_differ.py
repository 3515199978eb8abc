"""One differ for values of every kind: an anatomy says how to take them apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.wire.value_differ import Change, Part, ValueDiffer, Verdict


class Plain:
    """Plain values. Two tuples always differ, though perhaps in no part."""

    def judge(self, left: Any, right: Any) -> Verdict:
        if type(left) is not type(right):
            return Verdict.DIFFERENT
        if isinstance(left, tuple):
            return Verdict.FIND_PART
        if isinstance(left, list | dict | set):
            return Verdict.COMPARE_PARTS
        return Verdict.SAME if left == right else Verdict.DIFFERENT

    def parts(self, value: Any) -> Mapping[Any, Part]:
        named = value.items() if isinstance(value, dict) else enumerate(value)
        return {key: (f"[{key!r}]", part) for key, part in named}

    def members(self, value: Any) -> Mapping[str, Any] | None:
        return {repr(item): item for item in value} if isinstance(value, set) else None

    def looks_same(self, left: Any, right: Any) -> bool:
        return repr(left) == repr(right)


def compare(left: Any, right: Any, **options: Any) -> list[tuple[str, str]]:
    differ = ValueDiffer(Plain(), options.pop("limit", 100), **options)
    differ.compare(left, right)
    return [(difference.path, difference.change.value) for difference in differ.differences]


def test_each_place_has_a_path_and_a_change() -> None:
    assert compare({"a": [1, 2], "gone": 0}, {"a": [1, 3, 4], "new": 0}) == [
        ("['a'][1]", "changed"),
        ("['a'][2]", "added"),
        ("['gone']", "removed"),
        ("['new']", "added"),
    ]


def test_members_of_sets_have_no_place_of_their_own() -> None:
    assert compare([{1, 2}], [{2, 3}]) == [("[0]", "removed"), ("[0]", "added")]


def test_what_differs_in_no_part_differs_as_a_whole() -> None:
    assert compare((1, 2), tuple(range(1, 3))) == [("", "changed")]
    assert compare((1, 2), (1, 3)) == [("[1]", "changed")]


def test_it_stops_when_there_are_enough() -> None:
    differ = ValueDiffer(Plain(), 2)
    differ.compare([1, 2, 3], [4, 5, 6])
    assert (len(differ.differences), differ.is_full) == (2, True)


def test_cycles_end() -> None:
    left: list[Any] = [1]
    right: list[Any] = [1]
    left.append(left)
    right.append(right)
    assert compare(left, right) == []


def test_what_is_nested_too_deeply_is_compared_by_its_looks() -> None:
    assert compare([[[1]]], [[[1]]], max_depth=1) == []
    assert compare([[[1]]], [[[2]]], max_depth=1) == [("[0]", "changed")]


def test_shared_parts_may_be_reported_once() -> None:
    left, right = [1], [2]
    twice = [("[0][0]", "changed"), ("[1][0]", "changed")]
    assert compare([left, left], [right, right]) == twice
    assert compare([left, left], [right, right], reports_shared_once=True) == twice[:1]


def test_a_difference_carries_what_both_have() -> None:
    differ = ValueDiffer(Plain(), 5)
    differ.compare([1], [2])
    [difference] = differ.differences
    assert (difference.change, difference.left, difference.right) == (Change.CHANGED, 1, 2)
