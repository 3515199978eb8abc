"""Unfolding a reference: pages, names, circles, and assigning into it."""

from __future__ import annotations

import collections
import sys
import types
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from holdfast.probe import introspection, variables
from holdfast.probe.variables import Handles

OWNER = 7


class Opened:
    """One value, described and ready to unfold."""

    def __init__(self, value: Any, name: str = "v") -> None:
        self.handles = Handles()
        self.ref = variables.describe(value, name, self.handles, OWNER)["reference"]

    def page(self, start: int = 0, count: int = 100, summary: bool = False) -> dict[str, Any]:
        return variables.expand(self.handles, self.ref, start, count, summary)

    def items(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.page()["items"]
        return found

    def names(self) -> list[str]:
        return [item["name"] for item in self.items()]

    def pairs(self) -> list[tuple[str, str]]:
        return [(item["name"], item["value"]) for item in self.items()]

    def set(self, name: str, new: Any) -> None:
        variables.set_child(self.handles, self.ref, name, new)

    def child(self, name: str) -> Any:
        return variables.get_child(self.handles, self.ref, name)


class Point(NamedTuple):
    x: int
    y: int


# -- pages ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        list("abcdefg"),
        tuple("abcdefg"),
        collections.deque("abcdefg"),
        dict.fromkeys("abcdefg").keys(),
    ],
    ids=["list", "tuple", "deque", "keys"],
)
def test_a_sequence_is_paged_by_index(value: Any) -> None:
    page = Opened(value).page(2, 3)
    assert [(item["index"], item["name"], item["value"]) for item in page["items"]] == [
        (2, "2", "'c'"),
        (3, "3", "'d'"),
        (4, "4", "'e'"),
    ]
    assert (page["total"], page["has_more"]) == (7, True)
    assert Opened(value).page(5, 10)["has_more"] is False


@pytest.mark.parametrize("value", [[1, 2], {1: 2}, {1, 2}, range(2), types.SimpleNamespace(a=1)])
def test_a_page_beyond_the_end_is_empty(value: Any) -> None:
    page = Opened(value).page(50, 10)
    assert (page["items"], page["has_more"]) == ([], False)


def test_a_page_of_a_range_can_be_anywhere() -> None:
    page = Opened(range(0, 10**30, 2)).page(10**20, 2)
    assert [item["value"] for item in page["items"]] == [str(2 * 10**20), str(2 * 10**20 + 2)]
    assert page["total"] == 5 * 10**29


def test_a_set_is_paged_in_the_order_it_iterates() -> None:
    value = {"b", "a", "c"}
    assert [item["value"] for item in Opened(value).items()] == [repr(each) for each in value]


def test_a_dict_is_paged_with_the_repr_of_its_keys() -> None:
    opened = Opened({"a": 1, 2: "two", (3,): None, "ü": 4})
    assert opened.pairs() == [("'a'", "1"), ("2", "'two'"), ("(3,)", "None"), ("'ü'", "4")]
    page = opened.page(1, 2)
    assert [item["name"] for item in page["items"]] == ["2", "(3,)"]
    assert (page["total"], page["has_more"]) == (4, True)


def test_a_page_in_the_middle_of_a_list_asks_only_its_own_items() -> None:
    asked = []

    class Counted:
        def __init__(self, number: int) -> None:
            self.number = number

        def __repr__(self) -> str:
            asked.append(self.number)
            return str(self.number)

    opened = Opened([Counted(number) for number in range(1000)])
    asked.clear()
    opened.page(500, 3)
    assert asked == [500, 501, 502]


def test_paging_a_list_does_as_much_work_at_its_end_as_at_its_start() -> None:
    opened = Opened(list(range(1_000_000)))
    assert _calls(lambda: opened.page(0, 5)) == _calls(lambda: opened.page(999_990, 5))


def _calls(action: Any) -> int:
    """How many functions an action calls, C ones included."""
    count = 0

    def see(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(see)
    try:
        action()
    finally:
        sys.setprofile(before)
    return count


def test_an_unknown_reference_is_a_key_error() -> None:
    with pytest.raises(KeyError, match="no reference 999"):
        variables.expand(Handles(), 999, 0, 10)


def test_the_references_of_children_stay_the_same_when_asked_again() -> None:
    opened = Opened([[1], [2]])
    assert opened.items() == opened.items()


def test_a_summary_page_has_no_values() -> None:
    item = Opened({"a": [1]}).page(summary=True)["items"][0]
    assert (item["name"], item["type"], item["length"]) == ("'a'", "list", 1)
    assert item["expandable"] is True
    assert "value" not in item


# -- instances -----------------------------------------------------------------------------------


class Base:
    __slots__ = ("_private", "first")

    def __init__(self) -> None:
        self.first = 1
        self._private = 2


class Derived(Base):
    def __init__(self) -> None:
        super().__init__()
        self._b = "b"
        self.z = "z"
        self.a = "a"

    @property
    def computed(self) -> int:
        raise AssertionError("properties are not evaluated")


class Bag(list[Any]):
    pass


def test_an_instance_shows_slots_and_attributes_public_first_in_definition_order() -> None:
    assert Opened(Derived()).names() == ["first", "z", "a", "_private", "_b"]


def test_a_slot_that_is_not_filled_is_left_out() -> None:
    derived = Derived()
    del derived.first
    assert "first" not in Opened(derived).names()


def test_a_named_tuple_unfolds_by_its_names() -> None:
    assert Opened(Point(1, 2)).pairs() == [("x", "1"), ("y", "2")]
    assert Opened(Point(1, 2)).child("y") == Opened(Point(1, 2)).child("1") == 2


def test_a_list_with_attributes_shows_its_items_and_then_those() -> None:
    bag = Bag([1, 2])
    bag.owner = "Ann"  # type: ignore[attr-defined]
    opened = Opened(bag)
    assert opened.pairs() == [("0", "1"), ("1", "2"), ("owner", "'Ann'")]
    page = opened.page(1, 5)
    assert [item["name"] for item in page["items"]] == ["1", "owner"]
    assert page["total"] == 3
    opened.set("owner", "Bo")
    opened.set("0", 9)
    assert (bag, bag.owner) == ([9, 2], "Bo")  # type: ignore[attr-defined]


def test_an_exception_shows_its_arguments_and_attributes() -> None:
    error = ValueError("boom")
    error.code = 3  # type: ignore[attr-defined]
    assert Opened(error).pairs() == [("args", "('boom',)"), ("code", "3")]


def test_attributes_with_names_that_are_not_strings_are_shown() -> None:
    odd = types.SimpleNamespace()
    vars(odd)[1] = "one"  # type: ignore[index]
    assert Opened(odd).pairs() == [("1", "'one'")]


def test_an_instance_whose_getattr_raises_is_unfolded_all_the_same() -> None:
    class Fussy:
        def __init__(self) -> None:
            object.__setattr__(self, "inside", 1)

        def __getattribute__(self, name: str) -> Any:
            raise RuntimeError(name)

    assert Opened(Fussy()).pairs() == [("inside", "1")]


# -- scopes --------------------------------------------------------------------------------------


def test_a_scope_shows_plain_names_and_hides_nothing() -> None:
    handles = Handles()
    scope = {"x": 1, "_y": 2, "ñ": 3, "__name__": "m"}
    ref = handles.add(OWNER, scope, "Locals", kind="scope")
    page = variables.expand(handles, ref, 0, 10)
    assert [item["name"] for item in page["items"]] == ["x", "_y", "ñ", "__name__"]
    variables.set_child(handles, ref, "ñ", 4)
    assert (scope["ñ"], variables.get_child(handles, ref, "x")) == (4, 1)
    with pytest.raises(KeyError, match="no variable called nope"):
        variables.set_child(handles, ref, "nope", 1)


def test_an_empty_scope_has_an_empty_page() -> None:
    handles = Handles()
    ref = handles.add(OWNER, {}, "Locals", kind="scope")
    assert variables.expand(handles, ref, 0, 10) == {"items": [], "total": 0, "has_more": False}


# -- circles -------------------------------------------------------------------------------------


def test_a_child_that_is_its_own_ancestor_is_marked_and_leads_back() -> None:
    node: dict[str, Any] = {"name": "root"}
    node["branch"] = [node]
    opened = Opened(node, "node")
    branch = opened.items()[1]
    assert "circular" not in branch
    inside = variables.expand(opened.handles, branch["reference"], 0, 10)["items"][0]
    assert inside["value"] == "<circular: node>"
    assert inside["circular"] is True
    assert inside["reference"] == inside["variable_reference"] == opened.ref
    assert inside["type"] == "dict"


def test_two_objects_that_hold_each_other_are_a_circle() -> None:
    a, b = types.SimpleNamespace(), types.SimpleNamespace()
    a.other, b.other = b, a
    opened = Opened(a, "a")
    (inner,) = opened.items()
    (back,) = variables.expand(opened.handles, inner["reference"], 0, 10)["items"]
    assert (back["value"], back["reference"]) == ("<circular: a>", opened.ref)


def test_the_same_value_beside_itself_is_not_a_circle() -> None:
    shared = [1]
    assert not any("circular" in item for item in Opened([shared, shared]).items())


def test_globals_that_hold_themselves_are_not_marked_against_their_scope() -> None:
    handles, scope = Handles(), dict[str, Any]()
    scope["me"] = scope
    ref = handles.add(OWNER, scope, "Globals", kind="scope")
    (item,) = variables.expand(handles, ref, 0, 10)["items"]
    assert "circular" not in item


# -- assigning -----------------------------------------------------------------------------------


def test_items_entries_and_attributes_are_assigned_by_the_name_they_are_shown_by() -> None:
    items: list[Any] = [1, 2]
    ring: collections.deque[Any] = collections.deque([1, 2])
    entries: dict[Any, Any] = {"a": 1, 2: 2, (3,): 3, "it's": 4}
    thing = types.SimpleNamespace(a=1)
    Opened(items).set("1", "new")
    Opened(ring).set("1", "new")
    for name in ("'a'", "2", "(3,)", '"it\'s"'):
        Opened(entries).set(name, "new")
    Opened(thing).set("a", "new")
    assert (items[1], ring[1], thing.a) == ("new", "new", "new")
    assert entries == {"a": "new", 2: "new", (3,): "new", "it's": "new"}


def test_a_string_key_may_be_written_without_its_quotes() -> None:
    opened = Opened({"a": 1})
    opened.set("a", 2)
    assert opened.child("'a'") == opened.child("a") == 2


@pytest.mark.parametrize(
    "fixed",
    [(1, 2), {1, 2}, frozenset({1}), range(3), Point(1, 2), {1: 2}.keys()],
    ids=lambda value: type(value).__name__,
)
def test_what_cannot_be_changed_says_so(fixed: Any) -> None:
    with pytest.raises(TypeError, match="cannot be changed"):
        Opened(fixed).set("0", 9)


@pytest.mark.parametrize(
    ("value", "name", "error", "message"),
    [
        ([1], "5", IndexError, "index 5 is outside 0 to 0"),
        ([1], "-1", IndexError, "index -1 is outside 0 to 0"),
        ([1], "x", KeyError, "list has no item x"),
        ({"a": 1}, "'b'", KeyError, "dict has no item 'b'"),
        (types.SimpleNamespace(a=1), "b", AttributeError, "no attribute b of its own"),
    ],
)
def test_a_name_that_is_not_there_is_refused_in_words(
    value: Any, name: str, error: type[Exception], message: str
) -> None:
    for attempt in (lambda: Opened(value).set(name, 0), lambda: Opened(value).child(name)):
        with pytest.raises(error, match=message):
            attempt()


def test_assigning_goes_through_the_object_as_the_program_would() -> None:
    class Guarded:
        def __init__(self) -> None:
            self.__dict__["level"] = 1

        def __setattr__(self, name: str, value: Any) -> None:
            raise AttributeError("frozen")

    with pytest.raises(AttributeError, match="frozen"):
        Opened(Guarded()).set("level", 2)


def test_an_item_can_be_read_by_name_wherever_it_is() -> None:
    assert Opened([1, [2]]).child("1") == [2]
    assert Opened({5}).child("0") == 5
    assert Opened(range(9)).child("8") == 8
    assert Opened(Derived()).child("_b") == "b"


def test_a_dict_that_changes_under_the_walk_is_walked_again() -> None:
    tries = iter([True, False])

    def entries() -> Iterator[int]:
        yield 1
        if next(tries):
            raise RuntimeError("dictionary changed size during iteration")
        yield 2

    assert introspection.copy_slice(entries, 0, 5) == [1, 2]
