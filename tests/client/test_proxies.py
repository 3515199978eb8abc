"""A proxy behaves as what it stands for, and every call through it is seen."""

from __future__ import annotations

import collections.abc
import copy
import enum
import functools
import inspect
import json
import pickle
import threading
import types
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import dill
import pytest

from application import Application
from holdfast import AsyncDebugProxy, DebugProxy, configure_debug, with_debug


class Box:
    """Everything that an ordinary class can have."""

    kind = "box"

    def __init__(self, *items: Any) -> None:
        self.items = list(items)
        self.callback = max

    def put(self, item: Any, *, at: int = 0) -> int:
        """Put it in."""
        self.items.insert(at, item)
        return len(self.items)

    def open(self) -> Box:
        return self

    def each(self) -> Iterator[Any]:
        yield from self.items

    @property
    def size(self) -> int:
        return len(self.items)

    @size.setter
    def size(self, wanted: int) -> None:
        del self.items[wanted:]

    @functools.cached_property
    def first(self) -> Any:
        return self.items[0]

    @classmethod
    def of(cls, *items: Any) -> Box:
        return cls(*items)

    @staticmethod
    def volume(a: int, b: int, c: int) -> int:
        return a * b * c

    def __str__(self) -> str:
        return f"a box of {len(self.items)}"

    def __repr__(self) -> str:
        return f"Box{tuple(self.items)}"

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items)

    def __getitem__(self, index: Any) -> Any:
        return self.items[index]

    def __setitem__(self, index: int, value: Any) -> None:
        self.items[index] = value

    def __delitem__(self, index: int) -> None:
        del self.items[index]

    def __contains__(self, value: Any) -> bool:
        return value in self.items

    def __call__(self, times: int = 1) -> list[Any]:
        return self.items * times

    def __enter__(self) -> Box:
        self.items.append("entered")
        return self

    def __exit__(self, kind: Any, problem: Any, trace: Any) -> bool:
        self.items.append("left" if kind is None else kind.__name__)
        return kind is KeyError

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Box) and self.items == other.items

    def __hash__(self) -> int:
        return hash(tuple(self.items))

    def __add__(self, other: Any) -> Box:
        return Box(*self.items, *other) if isinstance(other, Box) else NotImplemented

    def __iadd__(self, other: Any) -> Box:
        self.items.extend(other)
        return self

    def __lt__(self, other: Box) -> bool:
        return len(self) < len(other)


class Plain:
    """Has nothing but a method."""

    def ping(self) -> str:
        return "pong"


@dataclass
class Point:
    x: int
    y: int = 0


class Colour(enum.Enum):
    RED = 1


class Numbers(collections.abc.Iterator[int]):
    """An iterator, which is also what it iterates."""

    def __init__(self) -> None:
        self.at = 0

    def __next__(self) -> int:
        self.at += 1
        if self.at > 2:
            raise StopIteration
        return self.at


def fib(n: int) -> int:
    return n if n < 2 else fib(n - 1) + fib(n - 2)


# -- calls ---------------------------------------------------------------------------------------


def test_proxy_intercepts_method_calls(app: Application) -> None:
    box = with_debug(Box())
    assert box.put("hat", at=0) == 1
    [call] = app.list_calls()
    assert (call["method_name"], call["call_type"], call["status"]) == ("put", "proxy", "success")


def test_proxy_passes_through_attributes(app: Application) -> None:
    target = Box(1)
    box = with_debug(target)
    box.label = "fragile"
    assert target.label == "fragile"  # type: ignore[attr-defined]
    del box.label
    assert not hasattr(target, "label")
    assert box.kind == "box"
    assert box.items is target.items
    with pytest.raises(AttributeError, match="'Box' object has no attribute 'lid'"):
        _ = box.lid
    assert app.list_calls() == []


def test_proxy_handles_properties(app: Application) -> None:
    box = with_debug(Box(1, 2, 3))
    assert box.size == 3
    box.size = 2
    assert box.first == 1
    assert box.items == [1, 2]
    assert app.list_calls() == []


def test_proxy_handles_class_methods(app: Application) -> None:
    made = with_debug(Box()).of(4)
    assert type(made) is Box
    assert app.list_names() == ["of"]


def test_proxy_handles_static_methods(app: Application) -> None:
    assert with_debug(Box()).volume(2, 3, 4) == 24
    assert app.list_names() == ["volume"]


def test_callables_of_the_instance_are_intercepted(app: Application) -> None:
    assert with_debug(Box()).callback(3, 4) == 4
    assert app.list_names() == ["callback"]


def test_a_method_replaced_on_the_instance_is_the_one_called(app: Application) -> None:
    target = Box()
    target.put = lambda item: "caught"  # type: ignore[method-assign,assignment,misc]
    assert with_debug(target).put(1) == "caught"


def test_only_the_object_itself_comes_back_as_a_proxy(app: Application) -> None:
    box = with_debug(Box(1))
    assert box.open() is box
    assert type(box + Box(2)) is Box
    assert type(with_debug([1, 2])[0:1]) is list


def test_a_generator_is_delivered_untouched(app: Application) -> None:
    made = with_debug(Box(1, 2)).each()
    assert isinstance(made, types.GeneratorType)
    assert list(made) == [1, 2]
    assert app.read_call("each")["marker"] == "generator"


# -- special methods -----------------------------------------------------------------------------


def test_proxy_intercepts_str(app: Application) -> None:
    assert str(with_debug(Box(1))) == "a box of 1"
    assert app.list_names() == ["__str__"]


def test_proxy_intercepts_repr(app: Application) -> None:
    assert repr(with_debug(Box(1, 2))) == "Box(1, 2)"
    assert app.list_names() == ["__repr__"]


def test_proxy_intercepts_format(app: Application) -> None:
    assert f"{with_debug(Box(1))}" == "a box of 1"
    assert app.list_names() == ["__format__"]


def test_proxy_intercepts_iter(app: Application) -> None:
    assert list(with_debug(Box(1, 2))) == [1, 2]
    assert "__iter__" in app.list_names()


def test_proxy_intercepts_len(app: Application) -> None:
    assert len(with_debug(Box(1, 2))) == 2
    assert app.list_names() == ["__len__"]


def test_proxy_intercepts_getitem(app: Application) -> None:
    assert with_debug(Box(5))[0] == 5
    assert app.list_names() == ["__getitem__"]


def test_proxy_intercepts_setitem(app: Application) -> None:
    target = Box(5)
    with_debug(target)[0] = 6
    assert target.items == [6]
    assert app.list_names() == ["__setitem__"]


def test_proxy_intercepts_delitem(app: Application) -> None:
    target = Box(5)
    del with_debug(target)[0]
    assert target.items == []
    assert app.list_names() == ["__delitem__"]


def test_proxy_intercepts_contains(app: Application) -> None:
    assert 5 in with_debug(Box(5))
    assert app.list_names() == ["__contains__"]


def test_proxy_intercepts_call(app: Application) -> None:
    assert with_debug(Box(5))(2) == [5, 5]
    assert app.list_names() == ["__call__"]


def test_proxy_handles_context_manager(app: Application) -> None:
    target = Box()
    box = with_debug(target)
    with box as entered:
        assert entered is box
    assert app.list_names() == ["__enter__", "__exit__"]
    with with_debug(target):
        raise KeyError("swallowed")
    with pytest.raises(ValueError, match="not swallowed"), with_debug(target):
        raise ValueError("not swallowed")
    assert target.items == ["entered", "left", "entered", "KeyError", "entered", "ValueError"]


def test_operators_ask_both_sides(app: Application) -> None:
    assert (with_debug(Box(1)) + Box(2)).items == [1, 2]
    assert (with_debug(Box(1)) + with_debug(Box(2))).items == [1, 2]
    assert (Box(1) + with_debug(Box(2))).items == [1, 2]
    assert with_debug(Box(1)) < Box(1, 2)
    with pytest.raises(TypeError, match="unsupported operand"):
        with_debug(Box(1)) + 3


def test_in_place_operators_keep_the_proxy(app: Application) -> None:
    target = Box(1)
    box = with_debug(target)
    box += [2]
    assert issubclass(type(box), DebugProxy)
    assert target.items == [1, 2]
    assert app.list_names() == ["__iadd__"]


def test_a_type_without_special_methods_gets_none(app: Application) -> None:
    plain = with_debug(Plain())
    assert not callable(plain)
    for name in ("__len__", "__iter__", "__await__", "__aiter__", "__enter__", "__bool__"):
        assert not hasattr(type(plain), name), name
    with pytest.raises(TypeError):
        iter(plain)
    with pytest.raises(TypeError):
        len(plain)
    assert plain
    assert app.list_calls() == []


def test_iteration_over_an_iterator(app: Application) -> None:
    numbers = with_debug(Numbers())
    assert next(numbers) == 1
    assert next(numbers) == 2
    with pytest.raises(StopIteration):
        next(numbers)
    assert [call["status"] for call in app.list_calls("__next__")] == ["success"] * 2 + [
        "exception"
    ]


# -- what it says it is --------------------------------------------------------------------------


def test_proxies_pass_for_their_targets(app: Application) -> None:
    box = with_debug(Box(1))
    assert isinstance(box, Box)
    assert box.__class__ is Box
    assert box.__doc__ == Box.__doc__
    assert vars(box) == vars(Box(1))
    assert box.put.__name__ == "put"
    assert box.put.__doc__ == "Put it in."
    assert list(inspect.signature(box.put).parameters) == ["item", "at"]
    assert isinstance(with_debug({}), collections.abc.Mapping)
    match with_debug(Point(1, 2)):
        case Point(x, y):
            assert (x, y) == (1, 2)
        case _:
            pytest.fail("no point")


class WithoutFields:
    """Its `__dict__` is a property that fails."""

    @property
    def __dict__(self) -> Any:  # type: ignore[override]
        raise RuntimeError("closed")

    def __reduce__(self) -> Any:
        return WithoutFields, ()

    def answer(self) -> int:
        return 42


def test_an_object_whose_fields_cannot_be_read_is_wrapped(app: Application) -> None:
    assert with_debug(WithoutFields()).answer() == 42
    assert app.list_names() == ["answer"]


def test_the_class_of_a_proxy_is_made_once(app: Application) -> None:
    assert type(with_debug(Box())) is type(with_debug(Box(1)))
    assert type(with_debug(Box())) is not type(with_debug(Plain()))
    assert issubclass(type(with_debug(Box())), DebugProxy)
    assert not issubclass(type(with_debug(Box())), AsyncDebugProxy)


def test_proxies_can_be_weakly_referenced(app: Application) -> None:
    box = with_debug(Box())
    assert weakref.ref(box)() is box


def test_proxy_equality_false_vs_non_proxy(app: Application) -> None:
    assert (with_debug([1]) == [1]) is False
    assert ([1] == with_debug([1])) is False  # noqa: SIM300
    assert with_debug([1]) != [1]


def test_proxy_equality_compares_targets(app: Application) -> None:
    assert with_debug([1]) == with_debug([1])
    assert with_debug([1]) != with_debug([2])


def test_equality_may_be_transparent(app: Application) -> None:
    configure_debug(eq="transparent")
    assert with_debug([1]) == [1]
    assert [1] == with_debug([1])  # noqa: SIM300
    assert with_debug([1]) != [2]


def test_proxy_hash_matches_target(app: Application) -> None:
    box = Box(1, 2)
    assert hash(with_debug(box)) == hash(box)
    with pytest.raises(TypeError, match="unhashable"):
        hash(with_debug([1]))


@pytest.mark.parametrize("through", [copy.copy, copy.deepcopy], ids=["copy", "deepcopy"])
def test_a_copy_of_a_proxy_is_a_copy_of_its_target(app: Application, through: Any) -> None:
    target = Box([1])
    made = through(with_debug(target))
    assert type(made) is Box
    assert made is not target
    assert made.items == target.items


@pytest.mark.parametrize("module", [pickle, dill], ids=["pickle", "dill"])
@pytest.mark.parametrize("value", [[1], {"a": 1}, 3, "x", None, len, Point(1)], ids=repr)
def test_a_pickled_proxy_is_its_target(app: Application, module: Any, value: Any) -> None:
    made = module.loads(module.dumps({"held": with_debug(("it", value))}))["held"]
    assert type(made) is type(value)
    assert made == value
    assert app.list_calls() == []


# -- classes, modules, bound methods -------------------------------------------------------------


def test_a_wrapped_class_makes_instances(app: Application) -> None:
    wrapped = with_debug(Point)
    made = wrapped(1, y=2)
    assert type(made) is Point
    assert isinstance(made, wrapped)
    assert issubclass(Point, wrapped)
    assert app.list_names() == ["Point"]

    class Further(wrapped):  # type: ignore[misc,valid-type]
        pass

    assert Further.__mro__[1] is Point


def test_wrapped_modules_and_bound_methods(app: Application) -> None:
    assert with_debug(json).dumps([1]) == "[1]"
    target = Box()
    assert with_debug(target.put)("hat") == 1
    assert app.list_names() == ["dumps", "put"]
    assert with_debug(Colour.RED).value == 1


def test_a_wrapped_function_in_a_class_is_a_method(app: Application) -> None:
    class Greeter:
        name = "you"

        @with_debug
        def greet(self, word: str) -> str:
            return f"{word}, {self.name}"

    assert Greeter().greet("Hello") == "Hello, you"
    assert app.list_names() == ["greet"]


def test_a_wrapped_function_keeps_its_face(app: Application) -> None:
    wrapped = with_debug(fib)
    assert (wrapped.__name__, wrapped.__module__) == ("fib", fib.__module__)
    assert inspect.signature(wrapped) == inspect.signature(fib)
    assert inspect.isfunction(wrapped)


# -- many at once --------------------------------------------------------------------------------


def test_proxy_thread_safety(app: Application) -> None:
    counts = with_debug(collections.Counter())
    barrier = threading.Barrier(8)
    problems: list[BaseException] = []

    def work(number: int) -> None:
        try:
            barrier.wait(60)
            for _ in range(10):
                counts[number] = counts[number] + 1
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=work, args=(n,), name=f"worker {n}") for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert problems == []
    calls = app.list_calls()
    assert len(calls) == 160
    assert len({call["call_id"] for call in calls}) == 160
    assert app.read_call("__setitem__")["thread"]["name"].startswith("worker ")


def test_proxy_internal_error_propagates(app: Application, monkeypatch: pytest.MonkeyPatch) -> None:
    box = with_debug(Box())

    def broken(*_: Any) -> str:
        raise RuntimeError("our own fault")

    monkeypatch.setattr("holdfast.client.stacks.Stacks.capture", broken)
    with pytest.raises(RuntimeError, match="our own fault"):
        box.put(1)
    assert len(box._target.items) == 0


def test_the_proxys_own_work_is_not_intercepted(app: Application) -> None:
    """Showing and storing a value that uses a proxy makes no calls of that proxy."""
    inner = with_debug(Box(1))

    class Outer:
        def __repr__(self) -> str:
            return f"Outer({inner!r}, {len(inner)})"

        def __reduce__(self) -> Any:
            return list, (list(inner),)

        def __bool__(self) -> bool:
            return True

    app.break_on("__repr__")
    app.break_on("__iter__")
    assert with_debug(Box()).put(Outer()) == 1
    assert app.list_names() == ["put"]
    shown = app.read_call("put")["args"][0]["text"]
    assert shown == "Outer(Box(1,), 1)"
