"""Looking into pickles: what is seen, that nothing is ever run, and that nothing breaks it."""

from __future__ import annotations

import collections
import datetime
import decimal
import io
import os
import pickle
import pickletools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dill
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.wire import pickle_viewer
from holdfast.wire.pickle_differ import MAX_DIFFERENCES, compare_pickles
from holdfast.wire.pickle_view import MAX_TEXT


@dataclass
class Point:
    x: int
    label: str


class Slotted:
    __slots__ = ("a",)

    def __init__(self) -> None:
        self.a = 5


class Opens:
    """Loading it makes a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return open, (str(self.path), "w")


@pytest.mark.parametrize(
    ("value", "text", "kind"),
    [
        (None, "None", "NoneType"),
        (True, "True", "bool"),
        (-7, "-7", "int"),
        (2.5, "2.5", "float"),
        ("it's", '"it\'s"', "str"),
        (b"ab", "b'ab'", "bytes"),
        ([1, [2], ()], "[1, [2], ()]", "list"),
        ((1,), "(1,)", "tuple"),
        ({"a": (1, 2), 3: None}, "{'a': (1, 2), 3: None}", "dict"),
        ({5}, "{5}", "set"),
        (set(), "set()", "set"),
        (decimal.Decimal("1.5"), "Decimal('1.5')", "Decimal"),
        (datetime.date(2026, 1, 2), "datetime.date(2026, 1, 2)", "date"),
        (ValueError("boom"), "ValueError('boom')", "ValueError"),
        (collections.OrderedDict(a=1), "OrderedDict(a=1)", "OrderedDict"),
        (Slotted(), "Slotted(a=5)", "Slotted"),
    ],
)
@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_what_is_seen(value: Any, text: str, kind: str, protocol: int) -> None:
    shown = pickle_viewer.build_preview(pickle.dumps(value, protocol))
    assert (shown["text"], shown["type"]) == (text, kind)


def test_an_object_is_shown_with_its_fields() -> None:
    shown = pickle_viewer.build_preview(pickle.dumps(Point(3, "c")))
    assert shown == {"text": "Point(x=3, label='c')", "type": "Point"}


def test_dills_own_forms_are_understood() -> None:
    made = dill.dumps(lambda x: x + 1)
    assert pickle_viewer.build_preview(made) == {"text": "<function <lambda>>", "type": "function"}
    local = type("Local", (), {"__module__": "__main__"})
    assert pickle_viewer.build_preview(dill.dumps(local))["text"] == "<class Local>"
    assert pickle_viewer.build_preview(dill.dumps(local()))["type"] == "Local"


@pytest.mark.parametrize(
    "value", [1, "x", None, True, 0.5, [1, ["a"]], {"a": {"b": [None]}}, [], ""]
)
def test_small_plain_values_come_as_json(value: Any) -> None:
    assert pickle_viewer.build_preview(dill.dumps(value))["json"] == value


@pytest.mark.parametrize(
    "value",
    [(1, 2), {1: 2}, {1}, b"x", float("nan"), 2**70, list(range(500)), "x" * 5000, "\ud800", Point],
    ids=lambda value: str(type(value)),
)
def test_everything_else_does_not(value: Any) -> None:
    assert "json" not in pickle_viewer.build_preview(pickle.dumps(value))


def test_a_value_that_holds_itself_is_shown() -> None:
    value: list[Any] = [1]
    value.append(value)
    assert pickle_viewer.build_preview(pickle.dumps(value))["text"] == "[1, …]"


def test_long_values_are_cut() -> None:
    for value in (list(range(100_000)), "x" * 100_000, {n: n for n in range(10_000)}, 10**5000):
        shown = pickle_viewer.build_preview(pickle.dumps(value))
        assert len(shown["text"]) <= MAX_TEXT
        assert shown["type"] == type(value).__name__


def test_a_value_by_reference_is_shown_as_one() -> None:
    out = io.BytesIO()

    class Referring(pickle.Pickler):
        def persistent_id(self, thing: Any) -> Any:
            return ("holdfast", "abc") if thing is Point else None

    Referring(out).dump([Point])
    assert pickle_viewer.build_preview(out.getvalue())["text"] == "[<stored ('holdfast', 'abc')>]"


def test_nothing_is_run(tmp_path: Path) -> None:
    for dump in (pickle.dumps, dill.dumps):
        shown = pickle_viewer.build_preview(dump(Opens(tmp_path / "made")))
        assert "open(" in shown["text"]
    assert not os.path.exists(tmp_path / "made")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b".",
        b"garbage",
        pickle.dumps([1, 2])[:-3],
        b"\x80\x04\x8c\xff",
        b"((((((((" * 5000,
        b"]" + b"2a" * 3000 + b".",  # a list that holds itself, again and again
        b"\x80\x04]" + b"(2e" * 2000 + b".",
        b"I" + b"9" * 100_000 + b"\n.",
        b"\x8e" + b"\xff" * 8,
        b"cos\nsystem\n(S'ls'\ntR.",
        b"}" + b"2R" * 500 + b".",
    ],
    ids=lambda data: repr(data[:10]),
)
def test_bad_bytes_are_described(data: bytes) -> None:
    shown = pickle_viewer.build_preview(data)
    assert isinstance(shown["text"], str)
    assert len(shown["text"]) <= MAX_TEXT


@given(st.binary(max_size=400))
def test_any_bytes_are_described(data: bytes) -> None:
    shown = pickle_viewer.build_preview(data)
    assert len(shown["text"]) <= MAX_TEXT
    assert compare_pickles(data, b"N.")[1] in (True, False)


_OPCODES = [opcode.code.encode("latin-1") for opcode in pickletools.opcodes]


@settings(max_examples=300)
@given(st.lists(st.one_of(st.sampled_from(_OPCODES), st.binary(max_size=3)), max_size=60))
def test_any_program_is_described(parts: list[bytes]) -> None:
    data = b"".join(parts) + b"."
    shown = pickle_viewer.build_preview(data)
    assert len(shown["text"]) <= MAX_TEXT


_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5), st.binary(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.text(max_size=3), inner, max_size=4),
        st.tuples(inner, inner),
    ),
    max_leaves=12,
)


@given(_values, st.sampled_from([0, 1, 2, 3, 4, 5]))
def test_json_is_the_value_and_a_value_does_not_differ_from_itself(
    value: Any, protocol: int
) -> None:
    data = pickle.dumps(value, protocol)
    shown = pickle_viewer.build_preview(data)
    if "json" in shown:
        assert shown["json"] == value
    assert compare_pickles(data, pickle.dumps(value, protocol)) == ([], True)


# -- differences ---------------------------------------------------------------------------------


def differences(left: Any, right: Any) -> list[tuple[Any, ...]]:
    found, complete = compare_pickles(pickle.dumps(left), pickle.dumps(right))
    assert complete
    return [(d.path, d.change, d.left or None, d.right or None) for d in found]


def test_differences_are_named_by_their_path() -> None:
    before = {"a": [1, 2], "gone": 0, "point": Point(1, "a"), "set": {1, 2}}
    after = {"a": [1, 3, 4], "new": 0, "point": Point(1, "b"), "set": {2, 3}}
    assert sorted(differences(before, after), key=str) == sorted(
        [
            ("['a'][1]", "changed", "2", "3"),
            ("['a'][2]", "added", None, "4"),
            ("['gone']", "removed", "0", None),
            ("['new']", "added", None, "0"),
            ("['point'].label", "changed", "'a'", "'b'"),
            ("['set']", "removed", "1", None),
            ("['set']", "added", None, "3"),
        ],
        key=str,
    )


def test_another_type_is_a_difference() -> None:
    assert differences(1, True) == [("value", "changed", "1", "True")]
    assert differences([1], (1,)) == [("value", "changed", "[1]", "(1,)")]


def test_a_list_of_differences_says_if_there_are_more() -> None:
    found, complete = compare_pickles(
        pickle.dumps(list(range(1000))), pickle.dumps(list(range(1, 1001)))
    )
    assert len(found) == MAX_DIFFERENCES
    assert not complete
