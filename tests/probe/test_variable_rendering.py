"""What a described value looks like as JSON, and that this holds on every Python we support."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import threading
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

import interpreters
from holdfast.probe import variables
from holdfast.probe.variables import Handles, Limits

OWNER = 7
PROBE = os.path.dirname(os.path.abspath(variables.__file__))

# Loaded the way a target does it, with as little of the standard library as can be.
IMPORT = """
import sys, types
package = types.ModuleType("_holdfast")
package.__path__ = [sys.argv[1]]
sys.modules["_holdfast"] = package
import _holdfast.variables
print(*sys.modules)
"""


def make_preview(value: Any, **options: Any) -> dict[str, Any]:
    return variables.describe(value, "v", Handles(), OWNER, **options)


# -- the shape -----------------------------------------------------------------------------------


def test_one_answer_has_a_bounded_size_however_much_of_each_value_is_wanted() -> None:
    named = [(f"text{number}", "x" * 1_000_000) for number in range(10)]
    described = variables.describe_all(named, Handles(), OWNER, max_chars=1_000_000)
    sizes = [len(item["value"]) for item in described]
    assert sizes[:4] == [1_000_002] * 4
    assert sum(sizes) < 6_000_000
    assert all(item["reference"] for item in described[5:])  # by which each can be read whole


def test_a_plain_value_has_name_value_and_type_and_no_reference() -> None:
    assert make_preview(3) == {
        "name": "v",
        "type": "int",
        "value": "3",
        "expandable": False,
        "variable_reference": 0,
        "reference": 0,
    }


def test_a_list_has_a_length_and_one_reference_under_both_names() -> None:
    item = make_preview([1, 2])
    assert (item["value"], item["length"], item["expandable"]) == ("[1, 2]", 2, True)
    assert item["reference"] == item["variable_reference"] >= 1000
    assert "truncated" not in item


@pytest.mark.parametrize("empty", [[], (), {}, set(), object(), "", b"", None])
def test_what_holds_nothing_is_not_expandable(empty: object) -> None:
    assert (make_preview(empty)["expandable"], make_preview(empty)["reference"]) == (False, 0)


@pytest.mark.parametrize(
    "value", ["text", b"bytes", len, os, dict, make_preview, [].append, (x for x in "")]
)
def test_strings_functions_classes_and_modules_are_not_expandable(value: object) -> None:
    assert make_preview(value)["expandable"] is False


def test_the_type_of_a_local_class_is_its_name_without_the_function() -> None:
    class Outer:
        class Inner:
            pass

    assert make_preview(Outer.Inner())["type"] == "Outer.Inner"


def test_a_summary_calls_no_repr_and_has_no_value() -> None:
    called = []

    class Order:
        def __init__(self) -> None:
            self.id = 1

        def __repr__(self) -> str:
            called.append(self)
            return "order"

    item = make_preview(Order(), summary=True)
    assert set(item) == {"name", "type", "expandable", "variable_reference", "reference"}
    assert item["expandable"] is True
    assert make_preview([Order()], summary=True)["length"] == 1
    assert called == []


# -- strings and bytes ---------------------------------------------------------------------------


def test_a_long_string_is_cut_inside_its_quotes_and_says_its_full_length() -> None:
    item = make_preview("x" * 5000)
    assert item["value"] == "'" + "x" * 1000 + "...'"
    assert (item["length"], item["truncated"]) == (5000, True)


def test_a_string_at_the_limit_is_whole() -> None:
    item = make_preview("x" * 1000)
    assert item["value"] == repr("x" * 1000)
    assert "truncated" not in item


def test_the_limits_can_be_chosen() -> None:
    assert make_preview("abcdef", limits=Limits(max_string=3))["value"] == "'abc...'"
    assert make_preview(b"abcdef", limits=Limits(max_bytes=3))["value"] == "YWJj"


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_binary_data_comes_as_base64_with_its_length(kind: Any) -> None:
    item = make_preview(kind(b"\x00\xff\x10"))
    assert base64.b64decode(item["value"]) == b"\x00\xff\x10"
    assert (item["encoding"], item["length"]) == ("base64", 3)
    assert "truncated" not in item


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_long_binary_data_is_cut(kind: Any) -> None:
    item = make_preview(kind(b"ab" * 50_000))
    assert base64.b64decode(item["value"]) == b"ab" * 2048
    assert (item["length"], item["truncated"]) == (100_000, True)


def test_unusual_memoryviews_are_shown() -> None:
    wide = memoryview(bytes(range(24)))
    released = memoryview(b"x")
    released.release()
    assert base64.b64decode(make_preview(wide[::2])["value"]) == bytes(range(0, 24, 2))
    assert base64.b64decode(make_preview(wide.cast("B", (4, 6)))["value"]) == bytes(range(24))
    assert base64.b64decode(make_preview(wide.cast("I"))["value"]) == bytes(range(24))
    assert make_preview(released)["value"] == "<released memoryview>"


def test_unicode_passes_through_and_lone_surrogates_are_written_out() -> None:
    class Odd:
        def __repr__(self) -> str:
            return "odd \udc80 ✓"

    assert make_preview("héllo ✓ 日本")["value"] == "'héllo ✓ 日本'"
    assert make_preview(Odd())["value"] == "odd \\udc80 ✓"
    item = variables.describe({"k\udcff": Odd()}, "naïve\udc80", Handles(), OWNER)
    assert item["name"] == "naïve\\udc80"
    json.dumps(item, ensure_ascii=False).encode("utf-8")


@pytest.mark.parametrize(
    "build_huge",
    [
        lambda: [None] * 3_000_000,
        lambda: (None,) * 3_000_000,
        lambda: "x" * 20_000_000,
        lambda: b"x" * 20_000_000,
        lambda: bytearray(20_000_000),
        lambda: dict.fromkeys(range(400_000)),
        lambda: set(range(400_000)),
    ],
    ids=["list", "tuple", "str", "bytes", "bytearray", "dict", "set"],
)
def test_a_huge_value_is_described_without_building_its_repr(
    build_huge: Callable[[], Any],
) -> None:
    huge = build_huge()  # here, for pytest keeps the values of parameters until the end
    tracemalloc.start()
    try:
        item = make_preview(huge)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert item["truncated"] is True
    assert item["length"] == len(huge)
    assert peak < 200_000


# -- references ----------------------------------------------------------------------------------


def test_the_same_value_in_the_same_place_keeps_its_reference() -> None:
    handles, value = Handles(), [1]
    first = handles.add(OWNER, value, "a")
    assert handles.add(OWNER, value, "a") == first
    assert handles.add(OWNER, value, "b") != first
    assert handles.add(OWNER, value, "a", parent=first) != first
    assert handles.add(OWNER + 1, value, "a") != first


def test_a_handle_knows_where_its_value_was_found() -> None:
    handles = Handles()
    parent = handles.add(OWNER, {}, "Locals", kind="scope")
    handle = handles.get(handles.add(OWNER, [1], "a", parent))
    assert handle is not None
    assert (handle.owner, handle.value, handle.name) == (OWNER, [1], "a")
    assert (handle.parent, handle.kind) == (parent, "value")


def test_references_go_with_the_thread_that_owns_them_and_are_never_reused() -> None:
    handles = Handles()
    gone, kept = handles.add(1, [1], "a"), handles.add(2, [2], "b")
    handles.drop(1)
    assert handles.get(gone) is None
    assert handles.get(kept) is not None
    assert handles.add(1, [1], "a") not in (gone, kept)


def test_dropping_lets_go_of_the_values_outside_the_lock() -> None:
    handles, seen = Handles(), []

    class Last:
        def __del__(self) -> None:
            seen.append(handles.get(0))

    handles.add(1, Last(), "a")
    handles.drop(1)
    assert seen == [None]


def test_references_stay_distinct_when_threads_ask_at_once() -> None:
    handles, refs = Handles(), list[int]()

    def ask() -> None:
        refs.extend(handles.add(OWNER, [n], str(n)) for n in range(200))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(refs)) == 800


# -- every interpreter ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["selfcheck_variables.py", "selfcheck_lazy_values.py"])
@pytest.mark.parametrize("interpreter", interpreters.choose_interpreters(), ids=str)
def test_values_are_shown_alike_on_every_python(
    interpreter: interpreters.Interpreter, name: str
) -> None:
    check = os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
    done = subprocess.run(
        [interpreter.path, "-I", "-W", "error", check, PROBE],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.stdout, done.stderr) == ("ok\n", "")


@pytest.mark.parametrize("interpreter", interpreters.choose_interpreters(), ids=str)
def test_the_probe_brings_nothing_heavy_into_the_target(
    interpreter: interpreters.Interpreter,
) -> None:
    done = subprocess.run(
        [interpreter.path, "-I", "-S", "-c", IMPORT, PROBE], capture_output=True, text=True
    )
    assert done.stderr == ""
    heavy = {"asyncio", "ast", "dataclasses", "holdfast", "inspect", "numpy", "re", "typing"}
    assert heavy & set(done.stdout.split()) == set()
