"""What a call delivers: the proxy for its own object and, with `follow=True`, other proxies."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import datetime
import decimal
import enum
import functools
import gc
import pathlib
import sqlite3
import types
import warnings
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from typing import Any
from unittest import mock

import aiosqlite
import httpx
import numpy as np
import pytest
import requests
import sqlalchemy
import sqlalchemy.orm

from application import Application
from django_database import configure_django
from harness import Server
from holdfast import DebugProxy, configure_debug, with_debug
from holdfast.client.invocation import Invocation


class Builder:
    """Its methods return it."""

    def __init__(self) -> None:
        self.parts: list[Any] = []

    def add(self, part: Any) -> Builder:
        self.parts.append(part)
        return self

    def __lshift__(self, part: Any) -> Builder:
        return self.add(part)

    def __iadd__(self, part: Any) -> Builder:
        return self.add(part)

    def __enter__(self) -> Builder:
        return self

    def __exit__(self, *problem: object) -> None:
        self.add("left")

    def __iter__(self) -> Builder:
        return self

    def __next__(self) -> Any:
        if not self.parts:
            raise StopIteration
        return self.parts.pop(0)

    @property
    def itself(self) -> Builder:
        return self

    async def __aenter__(self) -> Builder:
        return self

    async def __aexit__(self, *problem: object) -> None:
        self.add("left")

    def __aiter__(self) -> Builder:
        return self

    async def __anext__(self) -> Any:
        if not self.parts:
            raise StopAsyncIteration
        return self.parts.pop(0)

    def __await__(self) -> Any:
        yield from asyncio.sleep(0).__await__()
        return self

    async def add_later(self, part: Any) -> Builder:
        return self.add(part)

    def add_soon(self, part: Any) -> Any:
        """Not a coroutine function, but what one is decorated with."""
        return self.add_later(part)


async def await_it(thing: Any) -> Any:
    return await thing


@pytest.fixture(params=["strict", "leased"])
def mode(request: pytest.FixtureRequest, app: Application) -> str:
    app.restart(mode=request.param, on_unpicklable="placeholder")
    return str(request.param)


def names_after_off(app: Application) -> list[str]:
    with_debug("OFF")
    return app.list_names()


# -- return self ---------------------------------------------------------------------------------


def test_a_chain_of_calls_is_recorded_to_its_end(app: Application, mode: str) -> None:
    target = Builder()
    builder = with_debug(target)
    assert builder.add(1).add(2) is builder
    assert builder.itself.add(3) is builder
    assert builder << 4 << 5 is builder
    assert target.parts == [1, 2, 3, 4, 5]
    assert names_after_off(app) == ["add"] * 3 + ["__lshift__"] * 2


def test_a_context_manager_gives_the_proxy(app: Application, mode: str) -> None:
    with with_debug(Builder()) as builder:
        builder.add(1)
        builder += 2
        builder.add(3)
    assert names_after_off(app) == ["__enter__", "add", "__iadd__", "add", "__exit__"]


def test_an_iterator_is_iterated_through_its_proxy(app: Application, mode: str) -> None:
    assert list(with_debug(Builder().add(1).add(2))) == [1, 2]
    assert names_after_off(app) == ["__iter__"] + ["__next__"] * 3


def test_what_is_awaited_and_returns_itself_is_the_proxy(app: Application, mode: str) -> None:
    builder = with_debug(Builder())

    async def main() -> None:
        assert await builder is builder
        async with builder as entered:
            assert entered is builder
            assert await builder.add_later(1) is builder
            assert await builder.add_soon(2) is builder
        assert [part async for part in builder] == [1, 2, "left"]

    asyncio.run(main())
    assert names_after_off(app) == [
        *("__await__", "__aenter__", "add_later", "add_soon", "__aexit__", "__aiter__"),
        *["__anext__"] * 4,
    ]


def test_the_record_says_what_was_really_returned(app: Application, mode: str) -> None:
    builder = with_debug(("builder", Builder()))
    builder.add(1)
    with_debug("OFF")
    call = app.read_call("add")
    assert call["result"]["type"] == "Builder"
    assert call["changed"]["target"]["cid"] == call["result"]["cid"]


def test_a_proxy_keeps_to_itself_while_debugging_is_off(app: Application) -> None:
    builder = with_debug(Builder())
    with_debug("OFF")
    assert builder.add(1).add(2) is builder
    with builder as entered:
        assert entered is builder
    assert builder.itself is builder
    assert asyncio.run(await_it(builder.add_later(3))) is builder


def test_nothing_is_followed_while_debugging_is_off(app: Application) -> None:
    target = Client()
    client = with_debug(target, follow=True)
    with_debug("OFF")
    assert type(client.cursor()) is Cursor
    assert client.settings is target.settings


def test_a_decision_that_returns_something_else_returns_that(app: Application) -> None:
    app.break_on("add")
    builder = with_debug(Builder())
    decided = app.run_and_decide(lambda: builder.add(1), "skip", fake_result={"value": 5})
    assert decided == 5
    assert app.run_and_decide(lambda: builder.add(1), "continue") is builder


@pytest.mark.parametrize(
    ("value", "work"),
    [
        (5, lambda p: p + 0),
        ("text", lambda p: p.strip()),
        ((1, 2), lambda p: p[:]),
        (decimal.Decimal(1), lambda p: p.__copy__()),
        (pathlib.Path("/tmp"), lambda p: p.absolute()),
        (3, lambda p: p.real),
    ],
    ids=["int", "str", "tuple", "Decimal", "Path", "attribute"],
)
def test_a_value_that_happens_to_be_the_same_object_is_no_proxy(
    app: Application, value: Any, work: Callable[[Any], Any]
) -> None:
    result = work(with_debug(("it", value)))
    assert type(result) is type(value)
    assert result == value


def test_a_coroutine_that_is_never_awaited_is_warned_about_once(app: Application) -> None:
    builder = with_debug(Builder())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        builder.add_soon(1)
        gc.collect()
    assert [str(warning.message) for warning in caught] == [
        "coroutine 'Builder.add_later' was never awaited"
    ]


# -- follow --------------------------------------------------------------------------------------


@dataclasses.dataclass
class Record:
    x: int

    def double(self) -> int:
        return 2 * self.x


class Colour(enum.Enum):
    RED = 1

    def shade(self) -> str:
        return "dark"


class Cursor:
    def __init__(self, client: Client) -> None:
        self.client = client

    def fetch(self) -> list[int]:
        return [1, 2]

    def is_of(self, client: Client, *, first: Cursor) -> bool:
        return self.client is client and first is self


class Resources:
    """Only leads to other objects, as `client.chat` of an API client does."""

    def __init__(self, client: Client) -> None:
        self._client = client

    @functools.cached_property
    def cursors(self) -> Cursor:
        return Cursor(self._client)


class Client:
    @property
    def resources(self) -> Resources:
        return Resources(self)

    def __init__(self) -> None:
        self.settings = Cursor(self)
        self._private = Cursor(self)
        self.current = Cursor(self)

    def cursor(self) -> Cursor:
        return Cursor(self)

    def same(self) -> Cursor:
        return self.current

    def give(self, value: Any) -> Any:
        return value

    def cursors(self) -> Generator[Any, Any, Any]:
        sent = yield Cursor(self)
        yield sent
        return self

    async def cursor_later(self) -> Cursor:
        return Cursor(self)

    def cursor_soon(self) -> Any:
        return self.cursor_later()

    async def cursors_later(self) -> AsyncIterator[Cursor]:
        yield Cursor(self)

    @contextlib.contextmanager
    def transaction(self) -> Iterator[Client]:
        yield self

    def __getitem__(self, name: str) -> Cursor:
        return Cursor(self)


def is_followed(value: Any) -> bool:
    return issubclass(type(value), DebugProxy)


def test_without_follow_other_objects_are_returned_as_they_are(app: Application) -> None:
    client = with_debug(Client())
    assert type(client.cursor()) is Cursor
    assert type(client.settings) is Cursor


def test_what_methods_return_is_followed(app: Application, mode: str) -> None:
    client = with_debug(Client(), name="db", follow=True)
    assert client.cursor().fetch() == [1, 2]
    with_debug("OFF")
    [first, second] = app.list_calls()
    assert (first["method_name"], first["alias"]) == ("cursor", "db")
    assert (second["method_name"], second["alias"]) == ("fetch", "db.cursor()")
    assert app.read_call("cursor")["result"]["type"] == "Cursor"


def test_what_attributes_hold_is_followed_unless_it_is_private(app: Application, mode: str) -> None:
    target = Client()
    client = with_debug(target, follow=True)
    assert client.settings.fetch() == [1, 2]
    assert client._private is target._private
    client.settings.label = "main"
    assert target.settings.label == "main"  # type: ignore[attr-defined]
    with_debug("OFF")
    [call] = app.list_calls()
    assert (call["method_name"], call["alias"]) == ("fetch", "Client.settings")


def test_a_chain_of_attributes_is_followed(app: Application, mode: str) -> None:
    client = with_debug(Client(), name="api", follow=True)
    assert client.resources.cursors.fetch() == [1, 2]
    with_debug("OFF")
    [call] = app.list_calls()
    assert (call["method_name"], call["alias"]) == ("fetch", "api.resources.cursors")


def test_items_and_entered_objects_are_followed(app: Application, mode: str) -> None:
    client = with_debug(Client(), name="db", follow=True)
    assert client["a"].fetch() == [1, 2]
    with client.transaction() as inside:
        assert inside is client
        inside.cursor()
    assert names_after_off(app) == [
        *("__getitem__", "fetch", "transaction", "__enter__", "cursor", "__exit__"),
    ]


def test_an_object_that_is_reached_twice_is_one_proxy(app: Application) -> None:
    client = with_debug(Client(), follow=True)
    assert client.same() is client.same()
    assert client.same() is client.current
    assert client.cursor().client is client
    assert client.cursor() is not client.cursor()


def test_what_a_generator_yields_is_followed(app: Application, mode: str) -> None:
    client = with_debug(Client(), follow=True)
    made = client.cursors()
    assert isinstance(made, types.GeneratorType)
    assert next(made).fetch() == [1, 2]
    assert made.send(7) == 7
    with pytest.raises(StopIteration) as end:
        next(made)
    assert end.value.value is client
    with contextlib.closing(client.cursors()) as closed:
        next(closed)
    with pytest.raises(KeyError, match="thrown in"):
        client.cursors().throw(KeyError("thrown in"))
    assert names_after_off(app) == ["cursors", "fetch", "cursors", "cursors"]


def test_what_is_awaited_is_followed(app: Application, mode: str) -> None:
    client = with_debug(Client(), follow=True)

    async def main() -> None:
        assert (await client.cursor_later()).fetch() == [1, 2]
        assert (await client.cursor_soon()).fetch() == [1, 2]
        async for cursor in client.cursors_later():
            assert cursor.fetch() == [1, 2]

    asyncio.run(main())
    assert names_after_off(app) == [
        *("cursor_later", "fetch", "cursor_soon", "fetch", "cursors_later", "fetch"),
    ]


def test_several_results_at_once_are_followed(app: Application, mode: str) -> None:
    client = with_debug(Client(), follow=True)
    first, number = client.give((Cursor(client._target), 7))
    assert first.fetch() == [1, 2]
    assert number == 7
    assert names_after_off(app) == ["give", "fetch"]


def test_a_followed_object_is_given_back_as_itself(app: Application, mode: str) -> None:
    client = with_debug(Client(), follow=True)
    cursor = client.cursor()
    assert cursor.is_of(client, first=cursor)
    with_debug("OFF")
    assert cursor.is_of(client, first=cursor)


@pytest.mark.parametrize(
    "value",
    [
        *(None, 1, 1.5, "text", b"bytes", [Cursor], {"a": 1}, {1}, (1,), range(3), iter([1])),
        *(Record(1), Colour.RED, decimal.Decimal(1), datetime.date(2026, 1, 2), pathlib.Path()),
        *(ValueError("x"), Record, dataclasses, len, lambda: 1, functools.partial(max, 1)),
        *(np.arange(2), np.float64(1), types.SimpleNamespace(a=1), object(), map(len, [])),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_are_not_followed(app: Application, value: Any) -> None:
    configure_debug(on_unpicklable="placeholder")
    assert with_debug(Client(), follow=True).give(value) is value


def test_a_wrapped_class_or_function_may_be_followed(app: Application) -> None:
    assert with_debug(Client, follow=True)().cursor().fetch() == [1, 2]
    assert with_debug(lambda: Client(), name="connect", follow=True)().cursor().fetch() == [1, 2]
    assert [call["alias"] for call in app.list_calls()] == [
        *(None, "Client()", "Client().cursor()"),
        *("connect", "connect", "connect.cursor()"),
    ]


def test_the_name_of_a_followed_object_stays_short(app: Application) -> None:
    class Node:
        def next(self) -> Node:
            return Node()

    node = with_debug(Node(), name="list", follow=True)
    for _ in range(20):
        node = node.next()
    assert len(app.list_calls()[-1]["alias"]) < 60


def test_the_options_are_inherited(app: Application) -> None:
    client = with_debug(Client(), follow=True, on_unpicklable="placeholder")
    cursor = client.cursor()
    invocation = Invocation(cursor, "fetch", None, cursor.fetch, (), {}, None)
    assert invocation.on_unpicklable == "placeholder"
    assert is_followed(cursor.client.current)


# -- real libraries ------------------------------------------------------------------------------


def test_sqlite_is_followed_from_the_connection_to_the_rows(app: Application, mode: str) -> None:
    connection = with_debug(sqlite3.connect(":memory:"), name="db", follow=True)
    with connection as entered:
        assert entered is connection
        cursor = entered.cursor()
        assert cursor.execute("create table t (x)") is cursor
        cursor.executemany("insert into t values (?)", [(1,), (2,)])
    assert cursor.connection is connection
    assert list(connection.execute("select x from t")) == [(1,), (2,)]
    assert cursor.execute("select 1").fetchone() == (1,)
    connection.close()
    assert names_after_off(app) == [
        *("__enter__", "cursor", "execute", "executemany", "__exit__", "execute", "__iter__"),
        *("__next__", "__next__", "__next__", "execute", "fetchone", "close"),
    ]


def test_aiosqlite_is_followed_through_what_it_awaits(app: Application, mode: str) -> None:
    async def main() -> None:
        async with with_debug(aiosqlite.connect(":memory:"), follow=True) as db:
            await db.execute("create table t (x)")
            await db.execute("insert into t values (1)")
            async with db.execute("select x from t") as cursor:
                assert [row async for row in cursor] == [(1,)]

    asyncio.run(main())
    names = names_after_off(app)
    assert names[:2] == ["__aenter__", "execute"]
    assert names.count("execute") == 3
    assert names[-1] == "__aexit__"
    assert {"__aiter__", "__await__"} <= set(names)


def test_sqlalchemy_is_followed_from_the_engine_to_the_rows(app: Application, mode: str) -> None:
    engine = with_debug(sqlalchemy.create_engine("sqlite://"), name="engine", follow=True)
    with engine.begin() as connection:
        connection.execute(sqlalchemy.text("create table t (x)"))
        connection.execute(sqlalchemy.text("insert into t values (3)"))
    with engine.connect() as connection:
        assert connection.execute(sqlalchemy.text("select x from t")).scalar_one() == 3
    engine.dispose()
    names = names_after_off(app)
    assert [name for name in names if not name.startswith("__")] == [
        *("begin", "execute", "execute", "connect", "execute", "scalar_one", "dispose"),
    ]


def test_a_sqlalchemy_session_is_followed(app: Application, mode: str) -> None:
    class Base(sqlalchemy.orm.DeclarativeBase):
        pass

    class User(Base):
        __tablename__ = "users"
        id: sqlalchemy.orm.Mapped[int] = sqlalchemy.orm.mapped_column(primary_key=True)
        name: sqlalchemy.orm.Mapped[str]

    engine = sqlalchemy.create_engine("sqlite://")
    Base.metadata.create_all(engine)
    with with_debug(sqlalchemy.orm.Session(engine), name="session", follow=True) as session:
        session.add(User(name="Ada"))
        session.commit()
        assert session.scalars(sqlalchemy.select(User)).one().name == "Ada"
        user = session.get(User, 1)
        assert user is session.get(User, 1)
        assert user in session.query(User).all()  # a record stays itself, alone and in a list
        user.name = "Grace"
        session.delete(user)
        session.commit()
        assert session.scalars(sqlalchemy.select(User)).all() == []
    engine.dispose()
    names = names_after_off(app)
    assert [name for name in names if not name.startswith("__")] == [
        *("add", "commit", "scalars", "one", "get", "get", "query", "all"),
        *("delete", "commit", "scalars", "all"),
    ]


def test_httpx_is_followed_to_the_response(app: Application, mode: str) -> None:
    transport = httpx.MockTransport(lambda request: httpx.Response(200, json={"ok": True}))
    with with_debug(httpx.Client(transport=transport), name="web", follow=True) as client:
        response = client.get("http://example.test/")
        assert (response.status_code, response.json()) == (200, {"ok": True})
    with_debug("OFF")
    assert [(call["method_name"], call["alias"]) for call in app.list_calls()] == [
        *(("__enter__", "web"), ("get", "web"), ("json", "web.get()"), ("__exit__", "web")),
    ]


def test_an_asynchronous_client_is_followed_to_the_response(app: Application, mode: str) -> None:
    async def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, text="one\ntwo")

    async def main() -> list[str]:
        client = httpx.AsyncClient(transport=httpx.MockTransport(answer))
        async with (
            with_debug(client, name="web", follow=True) as entered,
            entered.stream("GET", "http://example.test/") as response,
        ):
            return [line async for line in response.aiter_lines()]

    assert asyncio.run(main()) == ["one", "two"]
    with_debug("OFF")
    recorded = [(call["method_name"], call["alias"]) for call in app.list_calls()]
    assert recorded == [
        *(("__aenter__", "web"), ("stream", "web"), ("__aenter__", "web.stream()")),
        *(("aiter_lines", "web.stream()"), ("__aexit__", "web.stream()"), ("__aexit__", "web")),
    ]


def test_methods_that_are_objects_are_followed(app: Application, mode: str) -> None:
    """As the stubs of gRPC and `xmlrpc.client.ServerProxy` have them."""
    stub = mock.Mock()
    stub.SayHello.return_value = "hello"
    proxy = with_debug(stub, name="stub", follow=True)
    assert proxy.SayHello("Ada") == "hello"
    proxy.SayHello.assert_called_once_with("Ada")
    with_debug("OFF")
    assert ("stub.SayHello", "Ada") in [
        (call["alias"], call["args"][0]["text"].strip("'"))
        for call in app.list_calls()
        if call["args"]
    ]


def test_an_api_client_is_followed_by_its_attributes(app: Application, mode: str) -> None:
    message = {"role": "assistant", "content": "hello"}
    body = {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
    }
    transport = httpx.MockTransport(lambda request: httpx.Response(200, json=body))
    web = httpx.Client(transport=transport)
    openai = pytest.importorskip("openai")
    original = openai.OpenAI(api_key="none", base_url="http://example.test", http_client=web)
    client = with_debug(original, name="openai", follow=True)
    answer = client.chat.completions.create(model="m", messages=[])
    assert answer.choices[0].message.content == "hello"
    web.close()
    with_debug("OFF")
    [call] = app.list_calls()
    assert (call["method_name"], call["alias"]) == ("create", "openai.chat.completions")


def test_requests_is_followed_to_the_response(app: Application, server: Server, mode: str) -> None:
    with with_debug(requests.Session(), name="web", follow=True) as session:
        session.trust_env = False
        response = session.get(f"{server.url}/health")
        assert response.ok
        assert response.json()["status"]
    with_debug("OFF")
    assert [(call["method_name"], call["alias"]) for call in app.list_calls()] == [
        *(("__enter__", "web"), ("get", "web"), ("json", "web.get()"), ("__exit__", "web")),
    ]


@pytest.fixture(scope="session")
def author_class() -> Any:
    """A Django model with books, whose tables are made."""
    configure_django()
    from django.db import connection, models  # type: ignore[import-untyped]

    class Author(models.Model):  # type: ignore[misc]
        name = models.TextField()

        class Meta:
            app_label = "followed"

    class Book(models.Model):  # type: ignore[misc]
        author = models.ForeignKey(Author, models.CASCADE, related_name="books")
        title = models.TextField()

        class Meta:
            app_label = "followed"

    with connection.schema_editor() as editor:
        editor.create_model(Author)
        editor.create_model(Book)
    return Author


def test_the_managers_of_django_are_themselves(app: Application, author_class: Any) -> None:
    app.restart(on_unpicklable="placeholder")
    assert with_debug(author_class).objects is author_class.objects
    author = with_debug(author_class(name="Ada"))
    author.save()
    author.books.create(title="Notes")  # a manager that can be called
    assert author.books.count() == 1
    assert app.list_names() == ["save"]


def test_django_is_followed_from_the_manager_to_the_query(
    app: Application, mode: str, author_class: Any
) -> None:
    manager = with_debug(author_class.objects, name="authors", follow=True)
    ada = manager.create(name="Ada Lovelace")
    names = manager.filter(pk=ada.pk).order_by("name").values_list("name", flat=True)
    assert list(names) == ["Ada Lovelace"]
    ada.delete()
    recorded = [name for name in names_after_off(app) if not name.startswith("__")]
    assert recorded == ["create", "filter", "order_by", "values_list", "delete"]
