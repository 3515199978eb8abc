"""The text of a value: natural when small, bounded when not, and safe from the value itself."""

from __future__ import annotations

import array
import collections
import enum
import functools
import sys
import types
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import pydantic
import pytest

from holdfast.probe import variables
from holdfast.probe.previews import Preview
from holdfast.probe.variables import Handles


def text(value: Any) -> str:
    return Preview().text(value)


def make_preview(value: Any) -> dict[str, Any]:
    return variables.describe(value, "v", Handles(), 1)


# -- builtins ------------------------------------------------------------------------------------


class Colour(enum.Enum):
    RED = 1


class Permission(enum.Flag):
    READ = 4
    WRITE = 2


class Plain(list[Any]):
    pass


class Tag(str):
    pass


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        -1.5,
        2 + 3j,
        10**900,
        ...,
        float("nan"),
        "it's",
        [],
        [1, "a", None],
        (1,),
        (),
        {"a": [1, (2, 3)]},
        {},
        {1},
        set(),
        frozenset({1}),
        frozenset(),
        range(3),
        range(0, 10, 2),
        collections.deque([1, 2]),
        collections.deque([1, 2], maxlen=2),
        collections.Counter("aab"),
        array.array("i", [1, 2]),
        {"a": 1}.items(),
        {"a": 1}.values(),
        collections.OrderedDict(a=1).keys() and {"a": 1}.keys(),
        Colour.RED,
        Permission.READ,
        Permission.READ | Permission.WRITE,
        Plain([1]),
        Tag("x"),
        [b"ab", bytearray(b"c")],
        types.SimpleNamespace(a=1, b=[2]),
        ValueError("boom", 3),
        KeyError(),
        len,
        make_preview,
        ValueError,
        int,
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_small_builtin_looks_like_its_repr(value: Any) -> None:
    preview = Preview()
    assert preview.text(value) == repr(value)
    assert preview.is_truncated is False


def test_a_defaultdict_names_its_factory() -> None:
    def make() -> int:
        return 0

    assert text(collections.defaultdict(int, a=1)) == "defaultdict(int, {'a': 1})"
    assert text(collections.defaultdict(make, a=1)) == "defaultdict(make, {'a': 1})"
    assert text(collections.defaultdict(functools.partial(int))) == "defaultdict(..., {})"


def test_an_ordered_dict_is_shown_in_its_own_order() -> None:
    ordered = collections.OrderedDict(a=1, b=2)
    ordered.move_to_end("a")
    assert text(ordered) == "OrderedDict({'b': 2, 'a': 1})"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (list(range(21)), "[0, 1, 2, 3, 4, ... (21 items)]"),
        (tuple(range(21)), "(0, 1, 2, 3, 4, ... (21 items))"),
        (dict.fromkeys(range(30)), "{0: None, 1: None, 2: None, 3: None, 4: None, ... (30 items)}"),
        (set(range(99)), "{0, 1, 2, 3, 4, ... (99 items)}"),
        (collections.deque(range(50)), "deque([0, 1, 2, 3, 4, ... (50 items)])"),
        (array.array("b", [0] * 50), "array('b', [0, 0, 0, 0, 0, ... (50 items)])"),
        (dict.fromkeys(range(30)).keys(), "dict_keys([0, 1, 2, 3, 4, ... (30 items)])"),
    ],
    ids=["list", "tuple", "dict", "set", "deque", "array", "keys"],
)
def test_a_big_container_shows_its_head_and_how_many(value: Any, expected: str) -> None:
    item = make_preview(value)
    assert (item["value"], item["truncated"], item["length"]) == (expected, True, len(value))


def test_a_range_is_whole_however_long() -> None:
    assert make_preview(range(10**30))["value"] == f"range(0, {10**30})"
    assert make_preview(range(10**30))["length"] == 10**30
    assert "truncated" not in make_preview(range(10**30))


def test_a_preview_stays_short_however_wide_and_deep_the_value_is() -> None:
    wide = [["word" * 100] * 20 for _ in range(20)]
    item = make_preview([wide] * 20)
    assert len(item["value"]) < 700
    assert item["truncated"] is True


def test_nesting_is_shown_three_levels_deep() -> None:
    assert text([[[[1]]]]) == "[[[[...]]]]"
    assert text({1: {2: {3: {4: 5}}}}) == "{1: {2: {3: {...}}}}"


def test_what_contains_itself_says_so() -> None:
    items: list[Any] = [1]
    items.append(items)
    entries: dict[str, Any] = {}
    entries["me"] = entries
    assert text(items) == "[1, [...]]"
    assert text(entries) == "{'me': {...}}"
    assert text([items]) == "[[1, [...]]]"


def test_the_same_thing_twice_is_not_a_circle() -> None:
    inner = [1]
    assert text([inner, inner]) == "[[1], [1]]"


def test_a_huge_int_says_how_many_bits_it_has() -> None:
    item = make_preview(1 << 33219)
    assert (item["value"], item["truncated"]) == ("<int with 33220 bits>", True)
    assert text([1 << 33219]) == "[<int with 33220 bits>]"


@pytest.mark.skipif(not hasattr(sys, "set_int_max_str_digits"), reason="no such limit")
def test_an_int_longer_than_the_interpreters_own_limit_is_shown_by_its_bits() -> None:
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    try:
        assert text(10**900) == "<int with 2990 bits>"
    finally:
        sys.set_int_max_str_digits(before)


# -- records -------------------------------------------------------------------------------------


class Point(NamedTuple):
    x: int
    y: Any


@dataclass
class Order:
    kind: ClassVar[str] = "order"
    id: int
    total: float
    secret: str = field(default="s", repr=False)


@dataclass(frozen=True)
class Packed:
    __slots__ = ("id",)
    id: int


@dataclass
class Rush(Order):
    def __repr__(self) -> str:
        return f"rush {self.id}"


class Late(Order):
    pass


def test_a_dataclass_is_its_fields_without_the_hidden_ones() -> None:
    assert text(Order(3, 9.5)) == "Order(id=3, total=9.5)"
    assert text(Late(3, 9.5)) == "Late(id=3, total=9.5)"
    assert text(Packed(1)) == "Packed(id=1)"


def test_a_dataclass_with_its_own_repr_is_asked() -> None:
    assert text(Rush(3, 9.5)) == "rush 3"


def test_a_dataclass_half_way_through_its_init_shows_what_is_not_set() -> None:
    order = Order.__new__(Order)
    order.id = 3
    assert text(order) == "Order(id=3, total=<unset>)"


def test_a_dataclass_that_holds_itself_or_too_much_is_bounded() -> None:
    order = Order(1, 0.0)
    order.total = order  # type: ignore[assignment]
    assert text(order) == "Order(id=1, total=Order(...))"
    big = Order(1, list(range(1_000_000)))  # type: ignore[arg-type]
    assert text(big) == "Order(id=1, total=[0, 1, 2, 3, 4, ... (1000000 items)])"


def test_a_named_tuple_shows_its_names() -> None:
    assert text(Point(1, [2])) == "Point(x=1, y=[2])"
    Pair = collections.namedtuple("Pair", "a b")
    assert text(Pair(1, 2)) == "Pair(a=1, b=2)"


def test_a_pydantic_model_is_its_fields_without_the_hidden_ones() -> None:
    class User(pydantic.BaseModel):
        model_config = pydantic.ConfigDict(extra="allow")
        name: str
        password: str = pydantic.Field(default="x", repr=False)
        tags: list[int] = []

    class Shy(User):
        def __repr__(self) -> str:
            return "shy"

    user = User(name="Ann", tags=[1], more=2)
    assert text(user) == repr(user) == "User(name='Ann', tags=[1], more=2)"
    assert text(Shy(name="Bo")) == "shy"
    item = make_preview(user)
    assert (item["expandable"], item["type"]) == (
        True,
        User.__qualname__.rpartition("<locals>.")[2],
    )


# -- the program's own objects -------------------------------------------------------------------


class Bare:
    pass


class Fine:
    def __repr__(self) -> str:
        return "fine"


class Raises:
    def __repr__(self) -> str:
        raise ValueError("boom")


class Exits:
    def __repr__(self) -> str:
        raise SystemExit(3)


class Recurses:
    def __repr__(self) -> str:
        return repr(self)


class Number:
    def __repr__(self) -> str:
        return 3  # type: ignore[return-value]


class Listed(list[Any]):
    def __repr__(self) -> str:
        return "listed"


def test_an_object_without_a_repr_or_attributes_is_its_type_and_address() -> None:
    bare = Bare()
    assert text(bare) == f"<Bare object at {id(bare):#x}>"


class Cart:
    def __init__(self, **more: Any) -> None:
        self._secret = 0
        self.items = [1, 2]
        self.total = 3
        self.__dict__.update(more)

    @property
    def computed(self) -> int:
        raise AssertionError

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(name)


class Slotted:
    __slots__ = ("first", "second", "unset")

    def __init__(self) -> None:
        self.first, self.second = "a", Raises()


def test_an_object_without_a_repr_shows_its_first_attributes() -> None:
    assert text(Cart()) == "<Cart items=[1, 2], total=3, _secret=0>"
    assert text([Cart()]) == "[<Cart items=[1, 2], total=3, _secret=0>]"
    slotted = text(Slotted())
    assert slotted.startswith("<Slotted first='a', second=<Raises object at ")
    assert "unset" not in slotted


def test_an_object_inside_itself_or_too_deep_is_cut() -> None:
    inside = Cart()
    inside.items = [inside]  # type: ignore[list-item]
    assert text(inside) == "<Cart items=[<Cart ...>], total=3, _secret=0>"
    assert text([[[Cart()]]]) == "[[[<Cart ...>]]]"


def test_many_attributes_are_shown_in_part_and_counted() -> None:
    item = make_preview(Cart(**{f"name{number}": "x" * 50 for number in range(100_000)}))
    assert item["value"].startswith("<Cart items=[1, 2], total=3, name0='xxxx")
    assert item["value"].endswith("... (100003 attributes)>")
    assert item["truncated"] is True
    nested = text([Cart(a=1, b=2, c=3, d=4)])
    assert nested == "[<Cart items=[1, 2], total=3, a=1, b=2, c=3, ... (7 attributes)>]"


def test_an_attribute_with_a_strange_name_is_shown() -> None:
    strange = Bare()
    strange.__dict__[3] = "three"  # type: ignore[index]
    assert text(strange) == "<Bare ...='three'>"


def test_an_objects_own_repr_is_asked_wherever_it_is() -> None:
    assert text(Fine()) == "fine"
    assert text([Fine(), {Fine(): (Fine(),)}]) == "[fine, {fine: (fine,)}]"
    assert text(Listed([1])) == "listed"


def test_a_long_own_repr_is_cut() -> None:
    class Long:
        def __repr__(self) -> str:
            return "y" * 100_000

    assert make_preview(Long())["value"] == "y" * 1000 + "..."
    assert make_preview(Long())["truncated"] is True
    assert len(text([Long()] * 3)) < 500


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (Raises(), "ValueError: boom"),
        (Exits(), "SystemExit: 3"),
        (Recurses(), "RecursionError: maximum recursion depth exceeded"),
        (Number(), "TypeError: __repr__ returned non-string (type int)"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_repr_that_fails_is_survived_and_reported(value: Any, error: str) -> None:
    item = make_preview(value)
    name = type(value).__name__
    assert item["value"].startswith(f"<{name} object at {id(value):#x}: repr raised {error}")
    assert item["repr_error"].startswith(error)
    nested = make_preview([1, value])
    assert nested["value"].startswith(f"[1, <{name} object at {id(value):#x}: repr raised")
    assert "repr_error" not in nested


def test_an_exception_whose_own_text_fails_is_survived() -> None:
    class WorseError(Exception):
        def __str__(self) -> str:
            raise KeyError

    class Bad:
        def __repr__(self) -> str:
            raise WorseError

    assert make_preview(Bad())["repr_error"] == "WorseError"


def test_a_repr_may_return_a_strange_string() -> None:
    class Strange(str):
        def __len__(self) -> int:
            raise RuntimeError

        __getitem__ = __str__ = __len__  # type: ignore[assignment]

    class Odd:
        def __repr__(self) -> str:
            return Strange("odd")

    found = make_preview(Odd())["value"]
    assert (type(found), found) == (str, "odd")


def test_a_bound_method_does_not_ask_its_object() -> None:
    assert text(Bare().__init__) != ""  # type: ignore[misc]
    assert (
        text(types.MethodType(make_preview, Raises()))
        == "<bound method make_preview of <Raises object>>"
    )


def test_an_exception_does_not_ask_its_arguments_unbounded() -> None:
    assert text(ValueError([0] * 1000)) == "ValueError([0, 0, 0, 0, 0, ... (1000 items)])"


def test_a_module_that_computes_its_attributes_is_left_alone() -> None:
    class Lazy(types.ModuleType):
        def __getattribute__(self, name: str) -> Any:
            raise AssertionError(name)

    assert text(Lazy("lazy")) == "<module 'lazy'>"


# -- objects that fight back ---------------------------------------------------------------------


class Meta(type):
    def __getattribute__(cls, name: str) -> Any:
        raise AssertionError(name)

    def __hash__(cls) -> int:
        raise AssertionError

    def __eq__(cls, other: object) -> bool:
        raise AssertionError

    def __repr__(cls) -> str:
        raise AssertionError


class Hostile(metaclass=Meta):
    def __init__(self) -> None:
        object.__setattr__(self, "inside", 1)

    def __getattribute__(self, name: str) -> Any:
        raise AssertionError(name)

    def _never(self, *_: Any) -> Any:
        raise AssertionError

    __len__ = __bool__ = __eq__ = __hash__ = __iter__ = __getitem__ = __contains__ = _never


class Liar:
    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return dict

    @property
    def __dict__(self) -> Any:  # type: ignore[override]
        raise AssertionError


class Sabotaged(list[Any]):
    """A builtin whose every way in is closed."""

    def _never(self, *_: Any) -> Any:
        raise AssertionError

    __len__ = __iter__ = __getitem__ = __eq__ = __bool__ = _never


def test_nothing_of_a_hostile_object_is_run() -> None:
    hostile = Hostile()
    item = make_preview(hostile)
    assert item["value"] == "<Hostile inside=1>"
    assert (item["type"], item["expandable"]) == ("Hostile", True)
    assert text(Hostile) == f"<class '{__name__}.Hostile'>"
    assert text([hostile]) == "[<Hostile inside=1>]"


def test_an_object_that_lies_about_its_class_is_what_it_is() -> None:
    item = make_preview(Liar())
    assert item["type"] == "Liar"
    assert item["value"].startswith("<Liar object at 0x")
    assert "length" not in item


def test_a_list_with_sabotaged_methods_is_read_past_them() -> None:
    handles = Handles()
    item = variables.describe(Sabotaged([1, 2]), "v", handles, 1)
    assert (item["value"], item["length"]) == ("[1, 2]", 2)
    page = variables.expand(handles, item["reference"], 0, 10)
    assert [each["value"] for each in page["items"]] == ["1", "2"]
