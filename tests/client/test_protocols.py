"""What the interpreter and libraries ask of a type otherwise than by calling its methods."""

from __future__ import annotations

import array
import collections
import dataclasses
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from application import Application
from holdfast import with_debug


@dataclasses.dataclass
class Point:
    x: int
    y: int = 2


pd: Any = pytest.importorskip("pandas")
ARRAY = np.arange(3)
SERIES = pd.Series([1, 2, 3])


@pytest.mark.parametrize(
    "work",
    [
        lambda p: np.sin(p),
        lambda p: np.arange(3) + p,
        lambda p: np.arange(3) @ p,
        lambda p: np.dot(p, p),
        lambda p: np.concatenate([p, p]),
        lambda p: np.where(p > 1, p, 0),
        lambda p: np.mean(p),
        lambda p: np.add.reduce(p),
        lambda p: np.add(p, 1, out=np.zeros_like(p)),
        lambda p: np.stack((p, [1, 2, 3]), axis=1),
    ],
)
@pytest.mark.parametrize("original", [ARRAY, SERIES], ids=["array", "series"])
def test_numpy_takes_a_proxy_for_its_target(
    app: Application, work: Callable[[Any], Any], original: Any
) -> None:
    expected, found = work(original), work(with_debug(original))
    assert type(found) is type(expected)
    assert np.array_equal(found, expected)
    with_debug("OFF")


def test_numpy_functions_are_calls(app: Application) -> None:
    proxy = with_debug(ARRAY)
    np.sin(proxy)
    np.dot(proxy, proxy)
    out = with_debug(np.zeros(3))
    assert np.add(ARRAY, 1, out=out) is out
    assert list(out) == [1, 2, 3]
    assert app.list_names()[:3] == ["__array_ufunc__", "__array_function__", "__array_ufunc__"]


def matched(subject: Any) -> Any:
    match subject:
        case [first, *rest]:
            return first, rest
        case {"key": value}:
            return value
        case Point(x, y):
            return x, y
        case str(text):
            return str(text)
    return None


@pytest.mark.parametrize(
    "value",
    [[1, 2], (1, 2), range(3), collections.deque([1]), {"key": 3}, Point(1), "text", {1}, 5],
)
def test_patterns_match_a_proxy_as_its_target(app: Application, value: Any) -> None:
    proxy = with_debug(("named", value))
    assert matched(proxy) == matched(value)
    kinds: Any = (collections.abc.Sequence, collections.abc.Mapping, collections.abc.Callable)
    for kind in kinds:
        assert isinstance(proxy, kind) == isinstance(value, kind)


def test_a_wrapped_dataclass_is_one(app: Application) -> None:
    proxy = with_debug(Point(1))
    is_one: bool = dataclasses.is_dataclass(proxy)
    assert is_one
    assert [each.name for each in dataclasses.fields(proxy)] == ["x", "y"]
    assert dataclasses.asdict(proxy) == {"x": 1, "y": 2}
    assert dataclasses.astuple(proxy) == (1, 2)
    assert dataclasses.replace(proxy, x=5) == Point(5)
    assert app.list_names() == []


@pytest.mark.parametrize(
    "value", [array.array("i", [1, 2]), bytearray(b"ab"), np.arange(3), np.float64(1.5)]
)
def test_the_bytes_of_a_proxy_are_its_targets(app: Application, value: Any) -> None:
    proxy = with_debug(value)
    assert bytes(proxy) == bytes(value)
    if sys.version_info >= (3, 12):
        assert memoryview(proxy).tobytes() == memoryview(value).tobytes()


def test_a_number_is_not_made_iterable(app: Application) -> None:
    with pytest.raises(TypeError, match="not iterable"):
        iter(with_debug(np.float64(1.5)))
    assert not isinstance(with_debug(np.float64(1.5)), collections.abc.Iterable)


def test_a_wrapped_class_takes_type_arguments(app: Application) -> None:
    assert with_debug(list)[int] == list[int]
    with pytest.raises(TypeError, match="not subscriptable"):
        with_debug(Point)[int]
    with pytest.raises(TypeError, match="not iterable"):
        iter(with_debug(list))
