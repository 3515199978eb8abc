"""What cannot be stored: the error says which value, where in it, and how to go on."""

from __future__ import annotations

import concurrent.futures
import gc
import queue
import re
import socket
import sqlite3
import ssl
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from application import Application
from holdfast import DebugSerializationError, async_debug_call, debug_call, with_debug
from holdfast.client.result_forecast import is_never_storable

MODES = pytest.mark.parametrize("mode", ["strict", "leased"])
ADVICE = (
    'To let the application go on, use with_debug(obj, on_unpicklable="placeholder"), '
    'configure_debug(on_unpicklable="placeholder") or HOLDFAST_ON_UNPICKLABLE=placeholder in the '
    "environment"
)


class Slotted:
    __slots__ = ("inner",)

    def __init__(self, inner: Any) -> None:
        self.inner = inner


class Shop:
    def __init__(self) -> None:
        self.made = 0

    def open(self, config: Any, *others: Any, **named: Any) -> str:
        self.made += 1
        return "open"

    def make(self, make: Callable[[], Any]) -> Any:
        self.made += 1
        return make()


@pytest.fixture
def plug() -> Iterator[socket.socket]:
    with socket.socket() as opened:
        yield opened


@MODES
def test_the_error_names_the_argument_and_the_place_in_it(
    app: Application, mode: str, plug: socket.socket
) -> None:
    app.restart(mode=mode)
    shop = with_debug(Shop())
    pool = SimpleNamespace(plugs=[1, plug])
    expected: dict[str, Callable[[], Any]] = {
        "config.pool.plugs[1]": lambda: shop.open(SimpleNamespace(pool=pool)),
        "config['db'][0]": lambda: shop.open({"db": (plug,)}),
        "config.inner.inner": lambda: shop.open(config=Slotted(Slotted(plug))),
        "others[1]": lambda: shop.open(1, 2, plug),
        "where['x']": lambda: shop.open(1, where={"x": plug}),
    }
    for path, call in expected.items():
        with pytest.raises(DebugSerializationError) as caught:
            call()
        error = caught.value
        assert error.path == path
        assert error.argument == re.split(r"[.']|\[(?!\d)|(?<=where)\[", path)[0]
        assert (error.function, error.part_type) == ("Shop.open", "socket.socket")
        assert isinstance(error.__cause__, TypeError)
        assert str(error).startswith(f"Shop.open: the argument {error.argument}, a ")
        assert "cannot pickle 'socket' object" in str(error)
        assert str(error).endswith(ADVICE)
    assert shop.made == 0


def test_an_argument_without_a_name_is_named_by_its_position(
    app: Application, plug: socket.socket
) -> None:
    with pytest.raises(DebugSerializationError) as caught:
        debug_call(max, 1, plug)
    assert (caught.value.argument, caught.value.path) == ("args[1]", "args[1]")


def test_the_error_names_the_object_that_is_wrapped(app: Application, plug: socket.socket) -> None:
    with pytest.raises(DebugSerializationError) as caught:
        with_debug(SimpleNamespace(plug=plug))
    assert (caught.value.argument, caught.value.path) == ("target", "target.plug")
    assert str(caught.value).startswith("with_debug: the object, a types.SimpleNamespace, cannot")


@MODES
def test_a_target_that_can_no_longer_be_stored_is_marked_and_no_error(
    app: Application, mode: str, plug: socket.socket
) -> None:
    app.restart(mode=mode)
    target = Shop()
    shop = with_debug(target)
    target.plug = plug  # type: ignore[attr-defined]
    shop.open(1)
    with_debug("OFF")
    cid = app.read_call("open")["target_cid"]
    assert app.server.get(f"/api/cid/{cid}/preview")["marker"] == "unpicklable"


# -- real objects ----------------------------------------------------------------------------------


def _make_engine() -> Any:
    sqlalchemy: Any = pytest.importorskip("sqlalchemy")
    return sqlalchemy.create_engine("sqlite://")


def _make_session() -> Any:
    orm: Any = pytest.importorskip("sqlalchemy.orm")
    return orm.Session(_make_engine())


def _make_executor() -> Any:
    executor = concurrent.futures.ThreadPoolExecutor(1)
    executor.submit(int).result()
    return executor


REAL: dict[str, Callable[[], Any]] = {
    "sqlite": lambda: sqlite3.connect(":memory:"),
    "engine": _make_engine,
    "session": _make_session,
    "httpx": httpx.Client,
    "socket": socket.socket,
    "executor": _make_executor,
}


def _close(thing: Any) -> None:
    end = getattr(thing, "close", None) or getattr(thing, "dispose", None) or thing.shutdown
    end()
    if type(thing).__name__ == "Session":
        thing.bind.dispose()


@pytest.mark.parametrize("name", REAL)
def test_real_objects_raise_by_default_and_pass_when_asked(app: Application, name: str) -> None:
    thing = REAL[name]()
    try:
        shop = with_debug(Shop())
        with pytest.raises(DebugSerializationError, match="the argument config") as caught:
            shop.open(thing)
        assert caught.value.path.startswith("config")
        lenient = with_debug(shop, on_unpicklable="placeholder")
        assert lenient.open(thing) == "open"
        assert lenient.make(lambda: thing) is thing
        assert app.read_call("make")["marker"] == "unpicklable"
    finally:
        _close(thing)


def test_a_function_is_recorded_without_what_it_cannot_be_stored_with(
    app: Application, plug: socket.socket
) -> None:
    def read() -> Any:
        return plug

    assert with_debug(Shop()).open(read) == "open"
    assert "marker" not in app.read_call("open")["args"][0]


@pytest.mark.parametrize("make", [threading.Lock, threading.RLock], ids=["lock", "rlock"])
def test_locks_are_stored(app: Application, make: Callable[[], Any]) -> None:
    assert with_debug(Shop()).open({"lock": make()}) == "open"
    assert "marker" not in app.read_call("open")["args"][0]


@MODES
def test_one_object_may_be_stricter_than_the_rest(
    app: Application, mode: str, plug: socket.socket
) -> None:
    app.restart(mode=mode, on_unpicklable="placeholder")
    assert with_debug(Shop()).open(plug) == "open"
    with pytest.raises(DebugSerializationError):
        with_debug(Shop(), on_unpicklable="raise").open(plug)


def test_the_option_of_a_wrapped_function_counts_for_debug_call(
    app: Application, plug: socket.socket
) -> None:
    lenient = with_debug(type, on_unpicklable="placeholder")
    assert debug_call(lenient, plug) is socket.socket
    with pytest.raises(DebugSerializationError):
        debug_call(type, plug)


# -- results ---------------------------------------------------------------------------------------


@MODES
def test_a_result_that_cannot_be_stored_is_refused_before_the_next_side_effect(
    app: Application, mode: str, plug: socket.socket
) -> None:
    app.restart(mode=mode)
    target = Shop()
    shop, give = with_debug(target), lambda: plug
    with pytest.raises(
        DebugSerializationError, match="the call has been made; its result"
    ) as first:
        shop.make(give)
    assert (first.value.argument, first.value.path, target.made) == ("result", "result", 1)
    with pytest.raises(DebugSerializationError, match=r"not been made.* a socket\.socket") as then:
        shop.make(give)
    assert (then.value.argument, target.made) == ("result", 1)
    assert with_debug(shop, on_unpicklable="placeholder").make(int) == 0
    assert shop.make(int) == 0  # its last result could be stored
    assert target.made == 3


class Flaky:
    """Cannot be pickled for the moment."""

    fails = True

    def __reduce__(self) -> Any:
        if Flaky.fails:
            raise OSError("not now")
        return Flaky, ()


@MODES
def test_a_failure_that_may_pass_is_not_expected_again(app: Application, mode: str) -> None:
    app.restart(mode=mode)
    Flaky.fails = True
    shop = with_debug(Shop())
    with pytest.raises(DebugSerializationError, match="not now"):
        shop.make(Flaky)
    Flaky.fails = False
    assert type(shop.make(Flaky)) is Flaky


class Door:
    opened = 0

    def connect(self) -> sqlite3.Connection:
        Door.opened += 1
        return sqlite3.connect(":memory:")

    async def connect_later(self) -> socket.socket:
        Door.opened += 1
        return socket.socket()


@MODES
def test_an_annotation_tells_beforehand_that_a_result_cannot_be_stored(
    app: Application, mode: str
) -> None:
    import asyncio

    app.restart(mode=mode)
    Door.opened = 0
    door = with_debug(Door())
    with pytest.raises(DebugSerializationError, match="annotated to return a Connection"):
        door.connect()
    with pytest.raises(DebugSerializationError, match="annotated to return a socket"):
        asyncio.run(door.connect_later())
    with pytest.raises(DebugSerializationError, match="annotated to return a socket"):
        asyncio.run(async_debug_call(Door().connect_later))
    with pytest.raises(DebugSerializationError, match="it makes a socket, which can never"):
        debug_call(socket.socket)
    assert Door.opened == 0


@dataclass
class Opener:
    """An object without a hash that can be called."""

    opened: int = 0

    def __call__(self) -> Any:
        self.opened += 1
        return queue.SimpleQueue()


@MODES
def test_an_object_that_is_called_and_has_no_hash_is_refused_as_a_function_is(
    app: Application, mode: str
) -> None:
    app.restart(mode=mode)
    opener = with_debug(Opener())
    with pytest.raises(DebugSerializationError, match="the call has been made"):
        opener()
    with pytest.raises(DebugSerializationError, match="the call has not been made"):
        opener()
    assert opener.opened == 1


@MODES
def test_no_object_is_kept_because_its_method_was_called(app: Application, mode: str) -> None:
    app.restart(mode=mode)
    target: deque[int] = deque()
    kept = weakref.ref(target)
    with_debug(target).append(1)  # a method in C, which refers to its object
    del target
    gc.collect()
    assert kept() is None


def test_types_that_can_never_be_stored_are_known_without_an_instance() -> None:
    class Plain:
        pass

    class Quiet:
        def __getstate__(self) -> Any:
            return {}

    never = (sqlite3.Connection, socket.socket, ssl.SSLSocket)
    assert all(map(is_never_storable, never))
    stored = (
        *(Plain, Quiet, Slotted, int, dict, type, re.Pattern, type(threading.Lock())),
        sqlite3.Cursor,  # as a marker
    )
    assert not any(map(is_never_storable, stored))
