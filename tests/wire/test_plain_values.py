"""Plain values out of pickles: as they were, for every type and protocol, with nothing loaded."""

from __future__ import annotations

import collections
import datetime
import pickle
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import dill
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.wire import plain_values


class Point(NamedTuple):
    x: int
    y: int


class Thing:
    def __init__(self) -> None:
        self.a = 1


class Note(NamedTuple):
    what: str
    length: int | None
    fields: plain_values.Fields


UTC = datetime.timezone.utc
EAST = datetime.timezone(datetime.timedelta(hours=2), "east")
VALUES: list[Any] = [
    *(None, True, 2**200, -(2**70), 1.5, float("inf"), "text" * 5000, b"bytes", bytearray(b"b")),
    *((1, (2, "x")), (), {1, 2}, frozenset({(1, 2)}), set(), {1: "a", (2, 3): b"b"}, 3 + 4j),
    *(list(range(50_000)), Decimal("1.50"), Decimal("NaN"), Fraction(1, 3), [[[]]]),
    *(datetime.date(2026, 1, 2), datetime.datetime(2026, 1, 2, 3, 4, 5, 678901)),
    *(datetime.datetime(2026, 1, 2, 3, tzinfo=UTC), datetime.time(1, 2, 3, 4, EAST)),
    *(datetime.datetime(2026, 1, 2, 3, tzinfo=EAST, fold=1), datetime.timedelta(1, 2, 3)),
    collections.OrderedDict(a=1, b=[2]),
    collections.Counter("hello"),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: repr(value)[:40])
@pytest.mark.parametrize("protocol", range(6))
def test_a_plain_value_is_as_it_was(value: Any, protocol: int) -> None:
    found = plain_values.read_plain(pickle.dumps(value, protocol), Note)
    assert repr(found) == repr(value) or found == value
    assert not isinstance(found, Note)


@pytest.mark.parametrize("dumps", [pickle.dumps, dill.dumps])
def test_a_named_tuple_is_a_tuple(dumps: Any) -> None:
    assert plain_values.read_plain(dumps([Point(1, 2)]), Note) == [(1, 2)]


def test_what_is_not_plain_is_a_note_and_the_rest_is_known() -> None:
    found = plain_values.read_plain(pickle.dumps([Thing(), 5, {"a": Thing}]), Note)
    assert found[1] == 5
    assert found[0].what.endswith("Thing")
    assert isinstance(found[2]["a"], Note)
    assert plain_values.read_plain(pickle.dumps({Point(1, 2), 5}), Note) == {(1, 2), 5}


class Slotted:
    __slots__ = ("b",)

    def __init__(self) -> None:
        self.b = [2]


class Parent:
    def __init__(self) -> None:
        self.name = "p"
        self.child = Child(self)


class Child:
    def __init__(self, parent: Parent) -> None:
        self.parent = parent


class Model:
    """Stored as models of pydantic are."""

    def __getstate__(self) -> Any:
        return {"__dict__": {"total": 3}, "__fields_set__": {"total"}}


@pytest.mark.parametrize(
    ("value", "name", "expected"), [(Thing(), "a", 1), (Slotted(), "b", [2]), (Model(), "total", 3)]
)
def test_the_attributes_of_an_object_are_known(value: Any, name: str, expected: Any) -> None:
    for dumps in (pickle.dumps, dill.dumps):
        found = plain_values.read_plain(dumps(value), Note)
        assert found.fields()[name]() == expected


def test_attributes_are_read_when_they_are_needed_so_objects_may_refer_to_each_other() -> None:
    found = plain_values.read_plain(pickle.dumps(Parent()), Note)
    child = found.fields()["child"]()
    assert child.fields()["parent"]().fields()["name"]() == "p"


def test_what_takes_too_long_says_so() -> None:
    data = pickle.dumps(list(range(1000)))
    assert "too long" in plain_values.read_plain(data, Note, 500).what
    shared: list[Any] = []
    for _ in range(60):
        shared = [shared, shared]
    assert "too long" in plain_values.read_plain(pickle.dumps(shared), Note).what
    cycle: list[Any] = []
    cycle.append(cycle)
    assert "too deeply" in plain_values.read_plain(pickle.dumps(cycle), Note).what
    assert isinstance(plain_values.read_plain(b"no pickle", Note), Note)


class Evil:
    def __reduce__(self) -> Any:
        return exec, ("raise SystemExit('run')",)


def test_nothing_is_run() -> None:
    assert isinstance(plain_values.read_plain(pickle.dumps(Evil()), Note), Note)
    wrong = pickle.dumps(datetime.date(2026, 1, 2)).replace(
        b"\x07\xea\x01\x02", b"\x00\x00\x00\x00"
    )
    assert isinstance(plain_values.read_plain(wrong, Note), Note)


@given(st.binary(max_size=60))
def test_any_bytes_will_do(data: bytes) -> None:
    plain_values.read_plain(data, Note)
