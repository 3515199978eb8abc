"""Builtin values behind proxies."""

from __future__ import annotations

import operator
from typing import Any

import pytest

from application import Application
from holdfast import DebugProxy, with_debug


def wrapped(value: Any) -> Any:
    return with_debug(("it", value))


def test_wrap_list(app: Application) -> None:
    numbers = with_debug([3, 1, 2])
    assert isinstance(numbers, list)
    assert sorted(numbers) == [1, 2, 3]
    assert sum(numbers) == 6
    assert numbers.index(2) == 2


def test_wrap_list_append_intercepted(app: Application) -> None:
    target = [1]
    with_debug(target).append(2)
    assert target == [1, 2]
    assert app.list_names() == ["append"]


def test_wrap_list_getitem_intercepted(app: Application) -> None:
    assert with_debug([7])[0] == 7
    assert app.list_names() == ["__getitem__"]


def test_wrap_list_setitem_intercepted(app: Application) -> None:
    target = [1]
    with_debug(target)[0] = 2
    assert target == [2]
    assert app.list_names() == ["__setitem__"]


def test_wrap_list_iter_intercepted(app: Application) -> None:
    assert [each for each in with_debug([1, 2])] == [1, 2]  # noqa: C416
    assert app.list_names() == ["__iter__"]


def test_wrap_dict(app: Application) -> None:
    found = with_debug({"a": 1})
    assert isinstance(found, dict)
    assert {**found} == {"a": 1}
    assert dict(found) == {"a": 1}
    assert found | {"b": 2} == {"a": 1, "b": 2}
    assert {"b": 2} | found == {"a": 1, "b": 2}


def test_wrap_dict_getitem_intercepted(app: Application) -> None:
    assert with_debug({"a": 1})["a"] == 1
    assert app.list_names() == ["__getitem__"]


def test_wrap_dict_setitem_intercepted(app: Application) -> None:
    target: dict[str, int] = {}
    with_debug(target)["a"] = 1
    assert target == {"a": 1}
    assert app.list_names() == ["__setitem__"]


def test_wrap_dict_keys_intercepted(app: Application) -> None:
    assert list(with_debug({"a": 1}).keys()) == ["a"]
    assert app.list_names() == ["keys"]


def test_wrap_set(app: Application) -> None:
    found = with_debug({1, 2})
    assert isinstance(found, set)
    assert found - {1} == {2}
    assert {1, 3} - found == {3}
    assert found >= {1}


def test_wrap_set_add_intercepted(app: Application) -> None:
    target = {1}
    with_debug(target).add(2)
    assert target == {1, 2}
    assert app.list_names() == ["add"]


def test_wrap_tuple(app: Application) -> None:
    pair = with_debug((1, 2))
    first, second = pair
    assert (first, second) == (1, 2)
    assert hash(pair) == hash((1, 2))
    with pytest.raises(TypeError):
        pair[0] = 3


def test_wrap_string(app: Application) -> None:
    text = wrapped("hold")
    assert text.upper() == "HOLD"
    assert text + "fast" == "holdfast"
    assert "with" + text == "withhold"
    assert "ol" in text
    assert wrapped("ol") in text
    assert f"{text:>6}" == "  hold"
    assert text[1:3] == "ol"
    assert "%s!" % text == "hold!"  # noqa: UP031
    assert wrapped("%s!") % "hey" == "hey!"
    assert {"hold": 1}.get(text) is None  # equal to nothing but proxies


def test_wrap_int(app: Application) -> None:
    five = with_debug(5)
    assert int(five) == 5
    assert list(range(five)) == [0, 1, 2, 3, 4]
    assert "abcdef"[five] == "f"
    assert -five == -5
    assert divmod(five, 2) == (2, 1)
    assert pow(five, 2, 7) == 4
    assert 2**five == 32
    assert five > 4
    assert five
    assert f"{five:03d}" == "005"


def test_wrap_float(app: Application) -> None:
    half = with_debug(0.5)
    assert float(half) == 0.5
    assert round(with_debug(2.567), 1) == 2.6
    assert half.is_integer() is False


def test_wrap_int_add_returns_raw(app: Application) -> None:
    assert type(with_debug(5) + 1) is int
    assert type(1 + with_debug(5)) is int
    assert with_debug(5) + with_debug(6) == 11
    assert set(app.list_names()) == {"__add__", "__radd__"}


def test_wrap_int_mul_returns_raw(app: Application) -> None:
    assert type(with_debug(5) * 2) is int
    assert [0] * with_debug(2) == [0, 0]


def test_wrap_float_arithmetic_returns_raw(app: Application) -> None:
    half = with_debug(0.5)
    results = [half + 1, half - 1, half * 2, half / 2, half // 1, half % 1, half**2, 1 / half]
    assert results == [1.5, -0.5, 1.0, 0.25, 0.0, 0.5, 0.25, 2.0]
    assert {type(each) for each in results} == {float}
    assert with_debug(5) + 2.5 == 7.5  # an int leaves that to the float


def test_augmented_assignment_of_a_number_gives_the_raw_value(app: Application) -> None:
    number = with_debug(5)
    number += 1
    assert type(number) is int


def test_augmented_assignment_of_a_list_keeps_the_proxy(app: Application) -> None:
    target = [1]
    numbers = with_debug(target)
    numbers += [2]
    numbers *= 2
    assert issubclass(type(numbers), DebugProxy)
    assert target == [1, 2, 1, 2]


@pytest.mark.parametrize(
    ("left", "right", "operate"),
    [
        ([0], [1], operator.add),
        ((0,), (1,), operator.add),
        ("a", "b", operator.add),
        (b"a", b"b", operator.add),
        ({1}, {2}, operator.or_),
        ({1, 2}, {2}, operator.and_),
        ({1: 1}, {2: 2}, operator.or_),
        (7, 2, operator.floordiv),
        (7, 2.5, operator.mul),
        ([0], 3, operator.mul),
        (3, [0], operator.mul),
        (7, 2, operator.lt),
        (1 + 2j, 2, operator.sub),
    ],
)
def test_operators_on_either_side(app: Application, left: Any, right: Any, operate: Any) -> None:
    expected = operate(left, right)
    for a, b in [(wrapped(left), right), (left, wrapped(right)), (wrapped(left), wrapped(right))]:
        result = operate(a, b)
        assert result == expected
        assert type(result) is type(expected)


@pytest.mark.parametrize(
    "value", [[1], {"a": 1}, {1}, (1,), "x", 5, 0.5, None, True, b"x", range(3)], ids=repr
)
def test_what_a_value_can_do_its_proxy_can_do(app: Application, value: Any) -> None:
    proxy = wrapped(value)
    assert callable(proxy) == callable(value)
    assert bool(proxy) == bool(value)
    assert str(proxy) == str(value)
    for ask in (iter, len, hash, reversed, int, float, operator.index, abs):
        try:
            ask(value)
        except Exception as expected:
            # int("x") is a ValueError, but what is no real str is a TypeError to C code.
            with pytest.raises((type(expected), TypeError)):
                ask(proxy)
        else:
            ask(proxy)
