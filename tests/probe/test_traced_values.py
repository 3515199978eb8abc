"""Texts, marks and whole values, without any code of the program."""

from __future__ import annotations

import collections
import datetime
import decimal
import enum
import gc
import hashlib
import pathlib
import pickle
import weakref
from typing import Any

import pytest

from holdfast.probe.traces.traced_values import is_cut, show, take_content
from holdfast.probe.traces.value_changes import describe
from holdfast.probe.traces.value_marks import is_same_content, take_mark


class Point:
    def __init__(self, x: Any, y: Any) -> None:
        self.x, self.y = x, y


class Forbidden:
    """Everything that one could ask of it would run its own code."""

    def __init__(self) -> None:
        self.value = 1

    def _refuse(self, *_args: Any) -> Any:
        raise AssertionError("code of the program runs")

    __repr__ = __str__ = __eq__ = __hash__ = __len__ = __iter__ = _refuse
    __bool__ = __getattr__ = __reduce_ex__ = _refuse


Pair = collections.namedtuple("Pair", "left right")
Colour = enum.Enum("Colour", "RED")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, "1"),
        (True, "True"),
        (-0.0, "-0.0"),
        ("a'b", '"a\'b"'),
        ([1, "x", None], "[1, 'x', None]"),
        ((1,), "(1,)"),
        ({"a": [1]}, "{'a': [1]}"),
        (set(), "set()"),
        (frozenset({1}), "frozenset({1})"),
        (bytearray(b"x"), "bytearray(b'x')"),
        (range(3), "range(0, 3)"),
        (Point(1, [2]), "Point(x=1, y=[2])"),
        (Pair(1, 2), "Pair(left=1, right=2)"),
        (Colour.RED, "Colour.RED"),
        (collections.deque([1]), "deque([1])"),
        (collections.defaultdict(int, a=1), "defaultdict({'a': 1})"),
        (ValueError("bad", 1), "ValueError('bad', 1)"),
        (decimal.Decimal("1.5"), "Decimal('1.5')"),
        (datetime.date(2020, 1, 2), "datetime.date(2020, 1, 2)"),
        (pathlib.PurePosixPath("/a/b"), "PurePosixPath('/a/b')"),
        (len, "<function len>"),
        (Point, "<class Point>"),
        (10**500, "<int of 1661 bits>"),
    ],
)
def test_values_have_a_text(value: Any, text: str) -> None:
    assert show(value) == text


def test_no_code_of_a_value_runs_for_its_text() -> None:
    one = Forbidden()
    assert show(one) == "Forbidden(value=1)"
    assert show([one, {"key": (one,)}]) == "[Forbidden(value=1), {'key': (<Forbidden>,)}]"
    take_mark([one, {"key": one}])


def test_a_long_text_says_how_much_it_leaves_out() -> None:
    assert show("x" * 100, 20) == "'xxxxxxxx'... 92 more"
    assert show(list(range(100)), 20) == "[0, 1, 2, 3, 4, 5, ... 94 more]"
    assert is_cut(show(list(range(100))))
    assert not is_cut(show("... and 3 more"))
    assert len(show({str(n): list(range(n)) for n in range(50)}, 60)) < 120


@pytest.mark.parametrize(
    ("one", "other"),
    [(1, True), (1, 1.0), (0.0, -0.0), ([1], [True]), ("1", 1), ([1], (1,)), ({1: 2}, {1: 3})],
)
def test_marks_tell_values_apart_that_are_equal(one: Any, other: Any) -> None:
    assert not is_same_content(take_mark(one), take_mark(other))


def test_marks_of_equal_plain_values_are_of_one_content() -> None:
    for value in ([1, {"a": (2,)}], "text", 2.5, None, {"k": [None]}, b"raw"):
        copy = pickle.loads(pickle.dumps(value))
        assert is_same_content(take_mark(value), take_mark(copy))


def change(value: Any, action: Any) -> str:
    old = take_mark(value)
    action(value)
    new = take_mark(value)
    assert old != new
    return describe("v", old, value, new)


@pytest.mark.parametrize(
    ("value", "action", "text"),
    [
        ([1], lambda v: v.append(2), "v + [2]"),
        ([1, 2], lambda v: v.pop(), "v - [2]"),
        ([1, 2], lambda v: v.pop(0), "v - [1] at 0"),
        ([1, 3], lambda v: v.insert(1, 2), "v + [2] at 1"),
        ([1, 2], lambda v: v.__setitem__(0, 9), "v[0]: 1 -> 9"),
        ([[1], [2]], lambda v: v[1].append(3), "v[1] + [3]"),
        ({"a": 1}, lambda v: v.update(b=2), "v['b'] = 2"),
        ({"a": 1}, lambda v: v.clear(), "del v['a']"),
        ({1}, lambda v: v.add(2), "v + {2}"),
        (Point(1, []), lambda v: setattr(v, "x", 2), "v.x: 1 -> 2"),
        (Point(1, []), lambda v: v.y.append(2), "v.y + [2]"),
        (Point(1, []), lambda v: delattr(v, "x"), "del v.x"),
        (Point(Point(1, 2), 3), lambda v: setattr(v.x, "y", 5), "v.x.y: 2 -> 5"),
        ([Point(1, 2)], lambda v: setattr(v[0], "x", 9), "v[0].x: 1 -> 9"),
        (collections.deque([1]), lambda v: v.append(2), "v + [2]"),
        (collections.Counter("a"), lambda v: v.update("b"), "v['b'] = 1"),
        (list(range(30_000)), lambda v: v.append(1), "v + [1]"),
        ({n: n for n in range(30_000)}, lambda v: v.popitem(), "v: 30000 -> 29999 items"),
    ],
    ids=range(18),
)
def test_a_change_in_place_is_told_in_few_words(value: Any, action: Any, text: str) -> None:
    assert change(value, action) == text


def test_no_code_of_a_value_runs_to_see_what_changed() -> None:
    table = {"k": Forbidden()}
    assert change(table, lambda v: setattr(v["k"], "value", 2)) == "v['k'].value: 1 -> 2"
    assert change([Forbidden()], lambda v: v.append(1)) == "v + [1]"


def test_only_plain_values_are_kept_as_a_whole() -> None:
    content = take_content({"a": [1, (2.5, None)]})
    assert content is not None
    cid, data = content
    assert hashlib.sha256(data).hexdigest() == cid
    assert pickle.loads(data) == {"a": [1, (2.5, None)]}
    for value in (Point(1, 2), [Forbidden()], {"x": len}, "x" * 70_000, Pair(1, 2)):
        assert take_content(value) is None


def test_classes_are_not_kept_alive() -> None:
    class Short:
        __slots__ = ("__weakref__", "left")

    class Plain:
        pass

    one, other = Short(), Plain()
    one.left = 1  # type: ignore[attr-defined]
    assert show([one, other]) == "[Short(left=1), Plain()]"
    take_mark([one, other])
    references: list[Any] = [weakref.ref(Short), weakref.ref(Plain)]
    del one, other, Short, Plain
    gc.collect()
    assert [reference() for reference in references] == [None, None]


def test_containers_that_hold_themselves_or_share_others_come_to_an_end() -> None:
    ring: list[Any] = []
    ring[:] = [ring, ring, None]
    ladder: Any = []
    for _ in range(60):
        ladder = [ladder, ladder]
    table: dict[str, Any] = {}
    table["self"] = [table, (table,)]
    holder = Point(ring, ladder)
    for value in (ring, ladder, table, holder):
        show(value)
        assert take_mark(value) == take_mark(value)
        assert take_content(value) is None
    assert change(ring, lambda v: v.append(1)).startswith("v = [")
    row = [0]
    assert change([row, row], lambda v: v[0].append(1)) == "v[0] + [1], v[1] + [1]"


def test_a_property_that_hides_a_slot_is_not_read() -> None:
    class Base:
        __slots__ = ("x", "y")

    class Hiding(Base):
        __slots__ = ()
        x = property(lambda _self: pytest.fail("code of the program runs"))

    class Again(Base):
        __slots__ = ("x",)

    hiding, again = Hiding(), Again()
    hiding.y = again.x = again.y = 3  # type: ignore[attr-defined]
    assert (show(hiding), show(again)) == ("Hiding(y=3)", "Again(y=3, x=3)")
