"""What an attribute of a proxy is: one of the target's methods, or the very thing it holds."""

from __future__ import annotations

import functools
import inspect
import sqlite3
import types
from collections.abc import Callable
from typing import Any
from unittest import mock

import pytest

from application import Application
from holdfast import configure_debug, with_debug


class Model:
    """An object that can be called, and has more to it."""

    def __init__(self) -> None:
        self.lr = 0.1

    def __call__(self, x: int) -> int:
        return self.predict(x)

    def predict(self, x: int) -> int:
        return x + 1


class Traced:
    """A decorator as it is written by hand: an object in place of a function, which binds."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.count = 0

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args: Any) -> Any:
        self.count += 1
        return self.function(*args)


def counted(function: Callable[..., Any]) -> Any:
    """A decorator that counts in an attribute of its function."""

    @functools.wraps(function)
    def call(*args: Any) -> Any:
        call.count += 1  # type: ignore[attr-defined]
        return function(*args)

    call.count = 0  # type: ignore[attr-defined]
    return call


class Trainer:
    shared = Model()
    step = staticmethod(functools.partial(max, 1))

    def __init__(self) -> None:
        self.model = Model()
        self.callback = max
        self.finish = functools.partial(min, 1)
        self.kind = Model
        vars(self)["title"] = "a title"

    def train(self, times: int = 1) -> int:
        return times

    def title(self) -> str:
        return "a method"

    @functools.lru_cache(maxsize=None)  # noqa: B019, UP033 - what people write
    def expensive(self, x: int) -> int:
        return x * x

    @counted
    def often(self) -> str:
        return "often"

    @Traced
    def traced(self) -> str:
        return "traced"

    twice = functools.partialmethod(train, 2)

    @functools.singledispatchmethod
    def describe(self, thing: Any) -> str:
        return "something"

    @describe.register
    def _(self, thing: int) -> str:
        return "a number"

    @classmethod
    def make(cls) -> str:
        return cls.__name__

    @staticmethod
    def add(a: int, b: int) -> int:
        return a + b


@pytest.fixture(params=["strict", "leased"])
def app_in_both_modes(request: pytest.FixtureRequest, app: Application) -> Application:
    app.restart(mode=request.param)
    return app


@pytest.mark.parametrize("name", ["model", "shared", "step", "finish", "kind", "title"])
def test_an_attribute_that_holds_something_is_that_very_thing(app: Application, name: str) -> None:
    trainer = Trainer()
    assert getattr(with_debug(trainer), name) is getattr(trainer, name)


def test_a_callable_object_keeps_its_methods_and_attributes(app: Application) -> None:
    trainer = Trainer()
    proxy = with_debug(trainer)
    assert proxy.model.predict(1) == 2
    assert proxy.model(2) == 3
    proxy.model.lr = 0.5
    assert trainer.model.lr == 0.5
    assert app.list_names() == []


METHODS: dict[str, tuple[tuple[Any, ...], Any]] = {
    "train": ((), 1),
    "callback": ((3, 4), 4),
    "expensive": ((3,), 9),
    "often": ((), "often"),
    "traced": ((), "traced"),
    "twice": ((), 2),
    "describe": ((3,), "a number"),
    "make": ((), "Trainer"),
    "add": ((1, 2), 3),
}


@pytest.mark.parametrize("name", METHODS)
def test_a_method_is_a_call_however_it_is_defined(
    app_in_both_modes: Application, name: str
) -> None:
    args, expected = METHODS[name]
    configure_debug(on_unpicklable="placeholder")
    assert getattr(with_debug(Trainer()), name)(*args) == expected
    with_debug("OFF")
    [call] = app_in_both_modes.list_calls()
    assert call["method_name"] == name
    [place, *_] = app_in_both_modes.read_call(name)["call_site"]["stack_trace"]
    assert place["function"] == "test_a_method_is_a_call_however_it_is_defined"


@pytest.mark.parametrize("name", METHODS)
def test_a_method_describes_itself_as_the_original_does(app: Application, name: str) -> None:
    original = getattr(Trainer(), name)
    method = getattr(with_debug(Trainer()), name)
    assert describe(method) == describe(original)


def describe(function: Any) -> list[Any]:
    try:
        signature: Any = inspect.signature(function)
    except ValueError as problem:
        signature = type(problem)
    names = ("__name__", "__doc__", "__module__", "__qualname__")
    return [signature, *(getattr(function, name, None) for name in names)]


def test_a_cached_method_keeps_its_cache(app: Application) -> None:
    trainer = Trainer()
    proxy = with_debug(trainer)
    before = trainer.expensive.cache_info()
    assert [proxy.expensive(7), proxy.expensive(7)] == [49, 49]
    after = proxy.expensive.cache_info()
    assert (after.hits - before.hits, after.misses - before.misses) == (1, 1)
    proxy.expensive.cache_clear()
    assert trainer.expensive.cache_info().currsize == 0
    assert proxy.expensive.__name__ == "expensive"
    assert app.list_names() == ["expensive", "expensive"]


def test_the_attributes_of_a_function_are_read_when_they_are_asked_for(app: Application) -> None:
    proxy = with_debug(Trainer())
    before = proxy.often.count
    proxy.often()
    assert proxy.often.count == before + 1


def test_a_cached_function_of_a_module_keeps_its_cache(app: Application) -> None:
    module = types.ModuleType("sums")
    module.square = functools.lru_cache(lambda x: x * x)  # type: ignore[attr-defined]
    proxy = with_debug(module)
    assert [proxy.square(3), proxy.square(3)] == [9, 9]
    assert proxy.square.cache_info().hits == 1
    assert app.list_names() == ["square", "square"]


def test_a_mock_in_an_attribute_is_that_mock(app: Application) -> None:
    trainer = Trainer()
    trainer.model = mock.Mock()
    proxy = with_debug(trainer)
    proxy.model.predict(1)
    proxy.model.predict.assert_called_once_with(1)


def test_a_mock_in_place_of_a_method_is_that_mock(app: Application) -> None:
    trainer = Trainer()
    trainer.train = mock.Mock(return_value=5)  # type: ignore[method-assign]
    proxy = with_debug(trainer)
    assert proxy.train(1) == 5
    proxy.train.assert_called_once_with(1)


def test_a_method_can_be_patched_through_the_proxy(app: Application) -> None:
    proxy = with_debug(Trainer())
    with mock.patch.object(proxy, "train", return_value=5) as train:
        assert proxy.train is train
        assert proxy.train(1) == 5
    assert proxy.train(1) == 1
    assert app.list_names() == ["train"]


def test_attributes_of_a_wrapped_mock_are_its_own(app: Application) -> None:
    target = mock.Mock()
    proxy = with_debug(target, on_unpicklable="placeholder")
    proxy.fetch.return_value = 3
    assert target.fetch() == 3
    assert proxy.fetch is target.fetch


def test_a_cursor_knows_its_connection(app: Application) -> None:
    connection = sqlite3.connect(":memory:")
    cursor = with_debug(connection.cursor(), on_unpicklable="placeholder")
    assert cursor.connection is connection
    assert cursor.connection.total_changes == 0
    connection.close()
