"""Recording evaluates nothing: a lazy value is recorded as what it is."""

from __future__ import annotations

import asyncio
import collections
import functools
import itertools
import json
import sqlite3
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from application import Application
from django_database import configure_django
from holdfast import async_debug_call, debug_call, mark_lazy, with_debug
from holdfast.client.proxy_base import read_snapshot
from holdfast.client.references import Omitted
from holdfast.client.snapshots import Snapshots, restore
from holdfast.client.value_preview import preview_text
from holdfast.probe import self_changes
from polling import wait_until

MODES = pytest.mark.parametrize("mode", ["strict", "leased"])


class Desk:
    """Takes things and gives them back, looking at none of them."""

    def __init__(self) -> None:
        self.last: Any = None

    def pass_on(self, thing: Any, *, note: Any = None) -> Any:
        return thing

    def keep(self, thing: Any) -> None:
        self.last = thing

    def give(self) -> Any:
        return self.last


def record(app: Application, mode: str, make: Callable[[], Any]) -> Any:
    """Record a lazy value in every part of a call; the first call as the server has it."""
    app.restart(mode=mode, capture_locals=True)
    app.break_on("pass_on", condition="args[0] == 3", when="after")
    desk, thing = with_debug(Desk()), make()
    assert desk.pass_on(thing, note=[thing]) is thing
    desk.keep(thing)  # part of the target from here on
    assert desk.give() is thing
    assert debug_call(desk.pass_on, {"inside": thing})["inside"] is thing
    with_debug("OFF")
    return app.server.get(f"/api/calls/{app.list_calls('pass_on')[0]['call_id']}")


# -- the standard library --------------------------------------------------------------------------


def _numbers() -> Iterator[int]:
    yield from (1, 2, 3)


@MODES
@pytest.mark.parametrize(
    ("make", "marker"),
    [
        (_numbers, "generator"),
        (lambda: zip([1, 2, 3], "abc", strict=True), "iterator"),
        (lambda: map(str, [1, 2, 3]), "iterator"),
        (lambda: filter(None, _numbers()), "iterator"),
        (lambda: itertools.chain([1], [2, 3]), "iterator"),
        (lambda: itertools.islice(_numbers(), 3), "iterator"),
        (lambda: enumerate("abc"), "iterator"),
        (lambda: sqlite3.connect(":memory:").execute("values (1), (2), (3)"), "iterator"),
    ],
    ids=["generator", "zip", "map", "filter", "chain", "islice", "enumerate", "cursor"],
)
def test_an_iterator_is_recorded_and_not_read(
    app: Application, mode: str, make: Callable[[], Any], marker: str
) -> None:
    made: list[Any] = []

    def make_one() -> Any:
        made.append(make())
        return made[0]

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        call = record(app, mode, make_one)
    assert len(list(made[0])) == 3
    assert call["args"][0]["marker"] == call["marker"] == marker
    assert call["kwargs"]["note"]["marker"] == marker


def test_an_open_file_stays_where_it_is(app: Application, tmp_path: Path) -> None:
    (tmp_path / "lines").write_text("one\ntwo\n")
    with (tmp_path / "lines").open() as file:
        record(app, "strict", lambda: file)
        assert file.read() == "one\ntwo\n"


def test_iterators_of_what_is_in_memory_are_stored_with_their_place() -> None:
    for make in (lambda: iter([1, 2, 3]), lambda: iter("abc"), lambda: iter({1: 1, 2: 2, 3: 3})):
        source = make()
        next(source)
        snapshot = Snapshots().take(source)
        assert snapshot.marker is None
        assert len(list(restore(snapshot.data, lambda cid: b""))) == 2
        assert len(list(source)) == 2


def test_the_rest_of_a_value_is_stored_without_its_lazy_parts() -> None:
    snapshot = Snapshots().take({"name": "tea", "rows": _numbers(), "price": 3})
    assert (snapshot.marker, snapshot.is_partial) == ("generator", True)
    found = restore(snapshot.data, lambda cid: b"")
    assert (found["name"], found["price"], type(found["rows"])) == ("tea", 3, Omitted)


# -- lazy objects of one's own ---------------------------------------------------------------------


class Query:
    """Lazy as libraries are: pickling it and showing it evaluate it."""

    ran = 0

    def __init__(self) -> None:
        self._rows: list[int] | None = None

    def _fetch(self) -> None:
        if self._rows is None:
            self._rows = list(self._run())

    def _run(self) -> list[int]:
        Query.ran += 1
        return [1, 2]

    def __iter__(self) -> Iterator[int]:
        self._fetch()
        return iter(self._rows or ())

    def __getstate__(self) -> Any:
        self._fetch()
        return self.__dict__

    def __repr__(self) -> str:
        self._fetch()
        return f"Query({self._rows})"


class Report:
    """Its repr reads what is computed when it is first read."""

    ran = 0

    def __init__(self) -> None:
        self.title = "sales"

    @functools.cached_property
    def rows(self) -> list[int]:
        Report.ran += 1
        return [1, 2]

    def __repr__(self) -> str:
        return f"Report({len(self.rows)})"


class Page:
    """Its repr shows another object, which is lazy."""

    def __init__(self) -> None:
        self.query = Query()

    def __repr__(self) -> str:
        return f"Page of {self.query!r}"


class Pretender:
    """Says that it is what it would create."""

    ran = 0

    def _create(self) -> list[int]:
        Pretender.ran += 1
        return [1]

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return type(self._create())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._create(), name)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return list, (self._create(),)

    def __repr__(self) -> str:
        return repr(self._create())


@MODES
@pytest.mark.parametrize("cls", [Query, Report, Page, Pretender])
def test_an_object_that_evaluates_itself_is_not_evaluated(
    app: Application, mode: str, cls: Any
) -> None:
    counted = Query if cls is Page else cls
    counted.ran = 0
    call = record(app, mode, cls)
    assert counted.ran == 0
    if cls in (Query, Pretender):
        assert call["args"][0]["text"] == f"<{cls.__name__} not evaluated>" or cls is Query
        assert call["args"][0]["marker"] == ("lazy" if cls is Query else "proxy")


def test_awaiting_a_call_asks_no_result_for_its_class(app: Application) -> None:
    Pretender.ran = 0

    async def call() -> None:
        await async_debug_call(Desk().pass_on, Pretender())

    asyncio.run(call())
    with_debug("OFF")
    asyncio.run(call())
    assert Pretender.ran == 0


def test_an_object_that_was_evaluated_is_stored_with_what_it_has() -> None:
    query = Query()
    snapshots = Snapshots()
    lazy = snapshots.take(query)
    assert lazy.marker == "lazy"
    assert list(query) == [1, 2]
    after = snapshots.retake(lazy, query)
    assert after is not None
    assert after.marker is None
    assert vars(restore(after.data, lambda cid: b"")) == {"_rows": [1, 2]}
    assert preview_text(query) == "Query([1, 2])"


class Parsed:
    """Reads its parts by methods, and changes nothing."""

    def __init__(self, text: str) -> None:
        self.text = text

    @property
    def parts(self) -> list[str]:
        return self.text.split()

    def copy(self) -> Any:
        self.copies = 1
        return self

    def __getstate__(self) -> Any:
        state = self.__dict__.copy()
        state["size"] = len(self.parts)
        return state

    def __repr__(self) -> str:
        return f"Parsed({self.parts})"


def test_methods_that_change_nothing_are_used_as_ever() -> None:
    snapshot = Snapshots().take(Parsed("a b"))
    assert snapshot.marker is None
    assert restore(snapshot.data, lambda cid: b"").size == 2
    assert preview_text(Parsed("a b")) == "Parsed(['a', 'b'])"
    assert not self_changes.study(Parsed, ("__getstate__", "__repr__"), with_fields=True)


@pytest.mark.parametrize(
    "value",
    [list[int], Path("/a/b"), json.JSONDecodeError("x", "y", 0), SimpleNamespace(a=1), len],
    ids=str,
)
def test_what_looks_lazy_and_is_not_is_stored(value: Any) -> None:
    snapshot = Snapshots().take(value)
    assert snapshot.marker is None
    assert repr(restore(snapshot.data, lambda cid: b"")) == repr(value)


class Remote:
    """Nothing about it says that it is lazy."""

    ran = 0

    def __reduce_ex__(self, protocol: Any) -> Any:
        Remote.ran += 1
        return dict, ()

    def __repr__(self) -> str:
        Remote.ran += 1
        return "remote"


def test_a_type_can_be_marked_as_lazy(app: Application) -> None:
    mark_lazy(Remote)
    Remote.ran = 0
    call = record(app, "strict", Remote)
    assert Remote.ran == 0
    assert call["args"][0]["marker"] == "lazy"
    with pytest.raises(TypeError, match="takes classes"):
        mark_lazy("Remote")  # type: ignore[arg-type]


# -- Django ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def library() -> Any:
    """Models of Django's, with one book."""
    configure_django()
    from django.db import connection, models  # type: ignore[import-untyped]

    class Author(models.Model):  # type: ignore[misc]
        name = models.TextField()

        class Meta:
            app_label = "lazy"

    class Book(models.Model):  # type: ignore[misc]
        author = models.ForeignKey(Author, models.CASCADE, related_name="books")
        title = models.TextField()

        class Meta:
            app_label = "lazy"

        def __str__(self) -> str:
            return f"{self.title} by {self.author.name}"

    with connection.schema_editor() as editor:
        editor.create_model(Author)
        editor.create_model(Book)
    Book.objects.create(author=Author.objects.create(name="Ann"), title="Tea")
    yield SimpleNamespace(Author=Author, Book=Book)
    connection.close()


@pytest.fixture
def django_queries(library: Any, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The queries that are made, in whatever thread."""
    from django.db.backends.utils import CursorWrapper  # type: ignore[import-untyped]

    queries: list[str] = []
    execute = CursorWrapper.execute

    def count(self: Any, sql: str, params: Any = None) -> Any:
        queries.append(sql)
        return execute(self, sql, params)

    monkeypatch.setattr(CursorWrapper, "execute", count)
    return queries


@MODES
def test_a_query_set_is_recorded_without_a_query(
    app: Application, library: Any, django_queries: list[str], mode: str
) -> None:
    books = library.Book.objects.filter(title="Tea")
    call = record(app, mode, lambda: books)
    assert django_queries == []
    assert call["args"][0]["marker"] == "lazy"
    assert call["args"][0]["text"].startswith("<QuerySet not evaluated: model=<class")
    assert [book.title for book in books] == ["Tea"]
    assert len(django_queries) == 1


@MODES
def test_a_query_set_that_was_read_is_recorded_without_another_query(
    app: Application, library: Any, django_queries: list[str], mode: str
) -> None:
    books = library.Book.objects.all()
    assert len(books) == 1
    django_queries.clear()
    call = record(app, mode, lambda: books)  # the text of a book would ask for its author
    assert django_queries == []
    assert "title='Tea'" in call["args"][0]["text"]


@MODES
def test_a_model_is_recorded_without_what_it_has_not_loaded(
    app: Application, library: Any, django_queries: list[str], mode: str
) -> None:
    book, author = library.Book.objects.only("id").get(), library.Author.objects.get()
    django_queries.clear()
    record(app, mode, lambda: book)
    record(app, mode, lambda: author.books)
    assert django_queries == []


@MODES
def test_lazy_texts_and_objects_of_django_are_not_evaluated(
    app: Application, library: Any, mode: str
) -> None:
    from django.utils.functional import (  # type: ignore[import-untyped]
        SimpleLazyObject,
        lazy,
        lazystr,
    )

    ran: list[str] = []

    def make(name: str) -> str:
        ran.append(name)
        return name

    text = lazy(make, str)("hello")
    user = SimpleLazyObject(lambda: make("Ann"))
    record(app, mode, lambda: text)
    call = record(app, mode, lambda: user)
    assert ran == []
    assert call["args"][0]["text"] == "<SimpleLazyObject not evaluated>"
    assert str(lazystr("x")) == "x"
    assert str(user) == "Ann"
    assert record(app, mode, lambda: user)["args"][0]["text"] == "SimpleLazyObject('Ann')"
    assert ran == ["Ann"]


# -- SQLAlchemy ------------------------------------------------------------------------------------


@pytest.fixture
def shelf() -> Any:
    """A session of SQLAlchemy's with one author and a book, and the statements that it makes."""
    sqlalchemy: Any = pytest.importorskip("sqlalchemy")
    from sqlalchemy import orm

    Base = orm.declarative_base()  # noqa: N806 - it is a class

    class Author(Base):  # type: ignore[misc,valid-type]
        __tablename__ = "authors"
        id = sqlalchemy.Column(sqlalchemy.Integer, primary_key=True)
        name = sqlalchemy.Column(sqlalchemy.String)
        books = orm.relationship("Book", back_populates="author")

        def __repr__(self) -> str:
            return f"Author({self.name}, {len(self.books)} books)"

    class Book(Base):  # type: ignore[misc,valid-type]
        __tablename__ = "books"
        id = sqlalchemy.Column(sqlalchemy.Integer, primary_key=True)
        author_id = sqlalchemy.Column(sqlalchemy.ForeignKey("authors.id"))
        author = orm.relationship(Author, back_populates="books")

    pool = sqlalchemy.pool.StaticPool
    engine = sqlalchemy.create_engine(
        "sqlite://", poolclass=pool, connect_args={"check_same_thread": False}
    )
    Base.metadata.create_all(engine)
    with orm.Session(engine) as session:
        session.add(Book(author=Author(name="Ann")))
        session.commit()
        statements: list[str] = []
        sqlalchemy.event.listen(
            engine, "before_cursor_execute", lambda *given: statements.append(given[2])
        )
        yield SimpleNamespace(session=session, statements=statements, Author=Author, Book=Book)
    engine.dispose()


@MODES
def test_what_sqlalchemy_has_not_loaded_is_not_loaded(
    app: Application, shelf: Any, mode: str
) -> None:
    author = shelf.session.query(shelf.Author).one()
    shelf.statements.clear()
    record(app, mode, lambda: author)  # its books are not there
    shelf.session.expire(author)
    record(app, mode, lambda: author)  # not even its name is
    assert shelf.statements == []
    assert len(author.books) == 1


@MODES
def test_queries_and_results_of_sqlalchemy_are_not_read(
    app: Application, shelf: Any, mode: str
) -> None:
    query = shelf.session.query(shelf.Book)
    call = record(app, mode, lambda: query)
    assert shelf.statements == []
    assert call["args"][0]["marker"] == "lazy"
    result = shelf.session.execute(query.statement)
    call = record(app, mode, lambda: result)
    assert len(shelf.statements) == 1
    assert call["args"][0]["marker"] == "iterator"
    assert len(result.all()) == 1


# -- dask ------------------------------------------------------------------------------------------


@MODES
def test_dask_computes_nothing(app: Application, mode: str) -> None:
    dask: Any = pytest.importorskip("dask")
    array: Any = pytest.importorskip("dask.array")
    computed: list[int] = []

    class Watch(dask.callbacks.Callback):  # type: ignore[misc]
        def _pretask(self, key: Any, graph: Any, state: Any) -> None:
            computed.append(1)

    with Watch():
        ones = array.ones((4, 4), chunks=2).sum()
        call = record(app, mode, lambda: ones)
        later = dask.delayed(sum)([1, 2])
        record(app, mode, lambda: later)
    assert computed == []
    assert call["args"][0]["text"].startswith("<Array not evaluated: name='sum")
    assert later.compute() == 3


# -- values that other threads change --------------------------------------------------------------


class Busy:
    """Pickling it fails for the first few times, as that of a dict that others change does."""

    def __init__(self, failures: float) -> None:
        self.failures = [failures]

    def __reduce_ex__(self, protocol: Any) -> Any:
        self.failures[0] -= 1
        if self.failures[0] >= 0:
            raise RuntimeError("dictionary changed size during iteration")
        return Busy, (0,)


def test_a_value_that_another_thread_changes_is_tried_again() -> None:
    assert Snapshots().take(Busy(3)).marker is None
    assert Snapshots().take({"in": [Busy(3)]}).marker is None


@MODES
@pytest.mark.parametrize("on_unpicklable", ["raise", "placeholder"])
def test_a_value_that_others_never_leave_alone_is_marked(
    app: Application, mode: str, on_unpicklable: str
) -> None:
    app.restart(mode=mode, on_unpicklable=on_unpicklable)
    busy = Busy(float("inf"))
    assert with_debug(Desk()).pass_on(busy) is busy
    with_debug("OFF")
    call = app.read_call("pass_on")
    assert call["args"][0]["marker"] == call["marker"] == "changing"


@MODES
def test_one_failure_of_a_target_is_not_remembered(app: Application, mode: str) -> None:
    app.restart(mode=mode, on_unpicklable="placeholder")

    class Desk2(Desk):
        fails = True

        def __getstate__(self) -> Any:
            if Desk2.fails:
                raise OSError("not now")
            return vars(self)

    desk = with_debug(Desk2())
    desk.pass_on(1)
    Desk2.fails = False
    snapshot = read_snapshot(desk)
    assert snapshot.marker == "unpicklable"
    wait_until(snapshot.is_due)  # the longer the attempt took, the later is the next one
    desk.pass_on(2)
    assert read_snapshot(desk).marker is None


def test_a_dict_that_threads_fill_and_empty_is_no_error(app: Application) -> None:
    app.restart(on_unpicklable="placeholder")
    shared: dict[int, Any] = {number: [number] for number in range(2000)}
    is_over = threading.Event()

    def churn() -> None:
        for number in itertools.cycle(range(2000, 4000)):
            shared[number] = {"n": number}
            shared.pop(number - 1, None)
            if is_over.is_set():
                return

    threads = [threading.Thread(target=churn) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        desk = with_debug(Desk())
        for _ in range(20):
            desk.pass_on(shared, note=collections.deque(shared))
    finally:
        is_over.set()
        for thread in threads:
            thread.join()
    assert len(app.list_calls("pass_on")) == 20


def test_a_definition_that_failed_for_a_moment_is_stored_the_next_time() -> None:
    held: Any = Busy(float("inf"))

    def shop() -> Any:
        return held

    snapshots = Snapshots()
    assert snapshots.take(shop).marker == "changing"
    held.failures[0] = 0
    assert snapshots.take(shop).marker is None
