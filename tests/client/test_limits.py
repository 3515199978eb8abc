"""docs/calls-limits.md: every limit that it lists is one, and every way around it works."""

from __future__ import annotations

import asyncio
import collections.abc
import copy
import datetime
import itertools
import json
import logging
import pickle
import re
import sqlite3
import sys
import traceback
import types
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar
from unittest import mock

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import pytest

from application import Application
from holdfast import configure_debug, with_debug

PAGE = (Path(__file__).parents[2] / "docs" / "calls-limits.md").read_text(encoding="utf-8")
Test = TypeVar("Test", bound=Callable[..., None])
shown: set[str] = set()


def limit(title: str) -> Callable[[Test], Test]:
    """The entry of the page that a test is about."""
    shown.add(title)
    return lambda test: test


def test_every_entry_of_the_page_has_a_test() -> None:
    assert set(re.findall(r"^\| \*\*(.+?)\.\*\*", PAGE, re.MULTILINE)) == shown


class Shop:
    def price(self, item: str) -> int:
        return len(item)

    def total(self, *items: str) -> int:
        return sum(self.price(item) for item in items)


@limit("The exact type")
def test_the_exact_type_is_the_proxys(app: Application) -> None:
    shop = with_debug(Shop())
    assert type(shop) is not Shop
    assert isinstance(shop, Shop)
    assert shop.__class__ is Shop


@limit("Compiled code that wants its own type")
def test_compiled_code_wants_its_own_type(app: Application) -> None:
    word, table, items = (with_debug(("value", value)) for value in ("tea", {"a": 1}, [1]))
    with pytest.raises(TypeError):
        "".join([word])
    with pytest.raises(TypeError):
        json.dumps(table)
    with pytest.raises(TypeError):
        list.append(items, 2)
    database = sqlite3.connect(":memory:")
    with pytest.raises(sqlite3.Error):
        database.execute("select ?", [word])
    dtype, zone = with_debug(np.dtype("f4")), with_debug(datetime.timezone.utc)
    with pytest.raises(TypeError):
        np.zeros(1, dtype=dtype)
    with pytest.raises(TypeError):
        datetime.datetime(2026, 1, 2, tzinfo=zone)
    assert np.zeros(1, dtype=dtype._target).dtype == np.float32
    assert datetime.datetime(2026, 1, 2, tzinfo=zone._target).tzinfo is datetime.timezone.utc
    assert "".join([word._target]) == "tea"
    assert json.dumps(table._target) == '{"a": 1}'
    list.append(items._target, 2)
    assert len(items) == 2
    assert database.execute("select ?", [word._target]).fetchall() == [("tea",)]
    database.close()


@limit("Exceptions")
def test_a_proxy_of_an_exception_cannot_be_raised_or_caught(app: Application) -> None:
    problem, cls = with_debug(ValueError("x")), with_debug(ValueError)
    with pytest.raises(TypeError, match="BaseException"):
        raise problem

    def catch() -> None:
        try:
            int("x")
        except cls:
            pass

    with pytest.raises(TypeError, match="BaseException"):
        catch()
    convert = with_debug(int)
    with pytest.raises(ValueError, match="invalid literal"):
        convert("x")


@limit("Bases of `type()`")
def test_type_wants_the_bases_themselves(app: Application) -> None:
    shop_class = with_debug(Shop)
    with pytest.raises(TypeError):
        type("Stall", (shop_class,), {})

    class Stall(shop_class):  # type: ignore[misc, valid-type]
        pass

    assert Stall.__mro__[1] is Shop
    assert type("Stall", (shop_class._target,), {}).__mro__[1] is Shop


@limit("Buffers before Python 3.12")
def test_only_newer_pythons_ask_a_proxy_for_its_buffer(app: Application) -> None:
    data = with_debug(("data", b"tea"))
    if sys.version_info < (3, 12):
        with pytest.raises(TypeError):
            memoryview(data)
    else:
        assert bytes(memoryview(data)) == b"tea"
    assert bytes(data) == bytes(memoryview(data._target)) == b"tea"


@limit("Abstract base classes")
def test_abstract_classes_want_the_class_itself(app: Application) -> None:
    cls = with_debug(list)
    with pytest.raises(TypeError, match="must be a class"):
        issubclass(cls, collections.abc.Sequence)
    assert issubclass(cls, object)
    assert issubclass(cls._target, collections.abc.Sequence)


@limit("Text as a number")
def test_text_is_read_as_a_number_from_the_text_itself(app: Application) -> None:
    text = with_debug("12", name="text")
    with pytest.raises(TypeError):
        int(text)
    assert int(str(text)) == 12


@limit("A tuple of values to format")
def test_a_tuple_is_formatted_from_the_tuple_itself(app: Application) -> None:
    pair = with_debug((1, 2))
    with pytest.raises(TypeError, match="not enough arguments"):
        "%s %s" % pair  # noqa: UP031
    assert "%s %s" % tuple(pair) == "1 2"  # noqa: UP031


@limit("A method that is replaced")
def test_a_method_is_to_be_replaced_through_the_proxy(app: Application) -> None:
    target = Shop()
    shop = with_debug(target)
    with mock.patch.object(target, "price", return_value=1) as price:
        assert shop.price("tea") == 1
        assert shop.price is not price
    with mock.patch.object(shop, "price", return_value=1) as price:
        assert shop.price is price
    assert shop.price("tea") == 3


@limit("`is` and `id`")
def test_a_proxy_is_not_its_object(app: Application) -> None:
    target = Shop()
    shop = with_debug(target)
    assert shop is not target
    assert id(shop) != id(target)
    assert shop._target is target
    assert with_debug(shop) is shop


@limit("`==` with the object itself")
def test_a_proxy_equals_its_object_only_if_asked_to(app: Application) -> None:
    target = Shop()
    shop, owners = with_debug(target), weakref.WeakKeyDictionary({target: "me"})
    assert shop != target
    assert shop not in owners
    assert owners[shop._target] == "me"
    configure_debug(eq="transparent")
    assert shop == target
    assert {target: 1}[shop] == 1


@limit("Weak references")
def test_a_weak_reference_is_to_the_proxy(app: Application) -> None:
    target = Shop()
    shop = with_debug(target)
    to_proxy, to_target = weakref.ref(shop), weakref.ref(shop._target)
    del shop
    assert to_proxy() is None
    assert to_target() is target


@limit("Pickles and copies")
def test_a_pickle_has_the_object_in_it(app: Application) -> None:
    shop = with_debug(Shop())
    assert type(pickle.loads(pickle.dumps(shop))) is Shop
    assert type(copy.copy(shop)) is Shop
    assert type(with_debug(pickle.loads(pickle.dumps(shop)))) is not Shop


@limit("Its own calls")
def test_what_an_object_calls_on_itself_is_not_recorded(
    app: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert with_debug(Shop()).total("tea", "cake") == 7
    assert app.list_names() == ["total"]
    monkeypatch.setattr(Shop, "price", with_debug(Shop.price))
    assert Shop().total("tea", "cake") == 7
    assert app.list_names() == ["total", "price", "price"]


@limit("Recursion")
def test_recursion_through_a_proxy_takes_three_frames_for_each_level(app: Application) -> None:
    depths: list[int] = []

    def descend(levels: int) -> int:
        depths.append(len(traceback.extract_stack()))
        return 0 if levels == 0 else int(proxy(levels - 1))

    proxy = with_debug(descend)
    old = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(old + 100)
        proxy(5)
    finally:
        sys.setrecursionlimit(old)
    assert {after - before for before, after in itertools.pairwise(depths)} == {3}


@limit("Libraries that look at their caller")
def test_a_library_that_looks_at_its_caller_finds_us(app: Application) -> None:
    frame = with_debug(pd.DataFrame({"n": [1, 2, 3]}))
    limit = 1
    with pytest.raises(Exception, match="limit"):
        frame.query("n > @limit")
    assert len(frame.query("n > @limit", local_dict={"limit": limit})) == 2

    def find(target: Any, limit: int) -> Any:
        return target.query("n > @limit")

    assert len(with_debug(find)(frame._target, 1)) == 2


@limit("Stacks")
def test_a_stack_shows_our_frames_by_their_name(app: Application) -> None:
    def describe() -> list[str]:
        return [entry.filename for entry in traceback.extract_stack()]

    names = with_debug(describe)()
    ours = [name for name in names if "importlib_bootstrap" in name]
    assert len(ours) == 2
    assert [name for name in names if name not in ours] == describe()


@limit("Breakpoints of a debugger")
def test_a_line_that_calls_a_compiled_function_is_met_twice(app: Application) -> None:
    def count_visits(function: Any) -> list[str]:
        """The functions in which a tracer meets the line of the call."""
        met: list[str] = []

        def work() -> None:
            function("1")
            done.append(True)

        done: list[bool] = []
        first = work.__code__.co_firstlineno + 1

        def trace(frame: types.FrameType, event: str, arg: object) -> Any:
            if frame.f_code.co_filename != __file__:
                return None
            if event == "line" and frame.f_lineno == first:
                met.append(frame.f_code.co_name)
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            work()
        finally:
            sys.settrace(before)
        assert done
        return met

    def convert(text: str) -> int:
        return int(text)

    assert count_visits(len) == ["work"]
    assert count_visits(with_debug(len)) == ["work", "work"]
    assert count_visits(with_debug(convert)) == ["work"]


@limit("The place of a coroutine")
def test_a_task_shows_our_file_for_its_coroutine(app: Application) -> None:
    async def brew(item: str) -> str:
        raise ValueError(item)

    async def main() -> tuple[str, list[str]]:
        task = asyncio.create_task(with_debug(brew)("tea"))
        try:
            await task
        except ValueError as problem:
            names = [entry.name for entry in traceback.extract_tb(problem.__traceback__)]
            return repr(task), names
        return "", []

    text, names = asyncio.run(main())
    assert "brew" in text
    assert "call_runner.py" in text
    assert names == ["main", "brew"]


@limit("Python 3.10")
def test_python_3_10_keeps_one_entry_in_a_traceback(
    app: Application, caplog: pytest.LogCaptureFixture
) -> None:
    expected = 1 if sys.version_info < (3, 11) else 0
    with pytest.raises(ValueError, match="x") as caught:
        with_debug(int)("x")
    assert str(caught.getrepr(style="native")).count("importlib_bootstrap") == expected
    with_debug(logging.getLogger("shop")).warning("sold out")
    assert ("importlib_bootstrap" in caplog.records[-1].pathname) == bool(expected)
