"""Databases and their mappers."""

import datetime
import functools
import os
import sqlite3
import tempfile

import django
import peewee
import sqlalchemy
import tinydb
from django.conf import settings
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column
from tinydb.storages import MemoryStorage

from . import application, attempt


@application("sqlite3.Connection", placeholder=True)
def use_connection(wrap):
    database = wrap(sqlite3.connect(":memory:"))
    with database:
        database.execute("create table tea (name text unique, day text)")
        database.executemany("insert into tea values (?, ?)", [("green", "1"), ("black", "2")])
    # From Python 3.12 on the adapter of dates warns, about the line that uses it.
    database.execute("insert into tea values (?, ?)", ("white", datetime.date(2026, 1, 2)))
    cursor = database.cursor()
    rows = cursor.execute("select name from tea order by name").fetchall()
    results = [
        rows,
        attempt(database.execute, "select"),
        attempt(database.execute, "insert into tea values ('green', '3')"),
        attempt(database.execute, "select ?"),
    ]
    database.close()
    return [*results, attempt(database.execute, "select 1")]


@application("sqlite3.Cursor", placeholder=True)
def use_cursor(wrap):
    database = sqlite3.connect(":memory:")
    cursor = wrap(database.cursor())
    numbers = [row[0] for row in cursor.execute("values (1), (2), (3)")]
    results = [numbers, cursor.fetchone(), cursor.connection is database, attempt(cursor.execute, "x")]
    database.close()
    return results


class Base(DeclarativeBase):
    pass


class Tea(Base):
    __tablename__ = "tea"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)


def create_engine():
    engine = sqlalchemy.create_engine("sqlite://", poolclass=sqlalchemy.pool.StaticPool)
    Base.metadata.create_all(engine)
    return engine


@application("sqlalchemy.Engine", placeholder=True)
def use_engine(wrap):
    engine = wrap(create_engine())
    with engine.begin() as connection:
        connection.execute(sqlalchemy.text("insert into tea values (1, 'green')"))
    with engine.connect() as connection:
        names = connection.execute(sqlalchemy.text("select name from tea")).scalars().all()
        failure = attempt(connection.execute, sqlalchemy.text("select nothing"))
    engine.dispose()
    return [names, failure, engine.dialect.name]


@application("sqlalchemy.Session", placeholder=True)
def use_session(wrap):
    engine = create_engine()
    with wrap(Session(engine)) as session:
        session.add(Tea(name="green"))
        session.add_all([Tea(name="black"), Tea(name="white")])
        session.commit()
        names = session.scalars(sqlalchemy.select(Tea.name).order_by(Tea.name)).all()
        session.add(Tea(name="green"))
        failure = attempt(session.flush)
        session.rollback()
        results = [
            names,
            failure,
            session.get(Tea, 1).name,
            attempt(session.get_one, Tea, 9),
            attempt(session.add, "tea"),
        ]
    engine.dispose()
    return results


def set_up_django():
    if not settings.configured:
        database = {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}
        settings.configure(DATABASES={"default": database}, USE_TZ=True)
        django.setup()


@functools.cache
def create_goods():
    """A model and its table."""
    set_up_django()
    from django.db import connection, models

    class Good(models.Model):
        name = models.CharField(max_length=9, unique=True)
        kind = models.CharField(max_length=9, default="drink")

        class Meta:
            app_label = "shop"

    with connection.schema_editor() as editor:
        editor.create_model(Good)
    return Good


def fill_goods():
    goods = create_goods()
    goods.objects.all().delete()
    for name in ("tea", "juice"):
        goods.objects.create(name=name)
    return goods


@application("django.QuerySet", placeholder=True)
def use_query_set(wrap):
    found = wrap(fill_goods().objects.order_by("name"))
    return [
        [each.name for each in found],
        found.count(),
        found.filter(name="tea").get().name,
        attempt(found.get, name="gold"),
        attempt(found.get, kind="drink"),
        attempt(found.filter, nothing=1),
        found[0].name,
        len(found),
    ]


@application("django.Manager", placeholder=True)
def use_manager(wrap):
    manager = wrap(fill_goods().objects)
    return [
        [each.name for each in manager.all().order_by("name")],
        manager.filter(name="tea").exists(),
        attempt(manager.get, name="gold"),
        attempt(manager.create, name="tea"),
        attempt(getattr, manager, "nothing"),
    ]


@application("django.Form", placeholder=True)
def use_form(wrap):
    set_up_django()
    from django import forms

    class Order(forms.Form):
        item = forms.CharField(max_length=5)
        count = forms.IntegerField(min_value=1)

    good, bad = wrap(Order({"item": "tea", "count": "2"})), wrap(Order({"item": "a long name"}))
    return [
        (good.is_valid(), good.cleaned_data),
        (bad.is_valid(), bad.errors.get_json_data()),
        attempt(lambda: bad["price"]),
        str(good["item"]),
        [field.name for field in good],
    ]


@application("peewee", placeholder=True)
def use_peewee(wrap):
    database = wrap(peewee.SqliteDatabase(":memory:"))

    class Cake(peewee.Model):
        name = peewee.CharField(unique=True)

        class Meta:
            pass

    with database.bind_ctx([Cake]), database.connection_context():
        database.create_tables([Cake])
        Cake.create(name="lemon")
        results = [
            [cake.name for cake in Cake.select()],
            attempt(Cake.create, name="lemon"),
            attempt(database.execute_sql, "select nothing"),
            database.get_tables(),
        ]
    return [*results, database.is_closed()]


@application("tinydb", placeholder=True)
def use_tinydb(wrap):
    database = wrap(tinydb.TinyDB(storage=MemoryStorage))
    database.insert({"item": "tea", "price": 3})
    database.insert_multiple([{"item": "cake", "price": 5}, {"item": "milk", "price": 1}])
    item = tinydb.Query()
    return [
        database.search(item.price > 2),
        database.get(item.item == "tea"),
        attempt(database.insert, "tea"),
        len(database),
        sorted(database.tables()),
        [row["item"] for row in database],
    ]


@application("io.TextIOWrapper", placeholder=True)
def use_file(wrap):
    handle, path = tempfile.mkstemp()
    os.close(handle)
    try:
        with wrap(open(path, "w+", encoding="ascii")) as file:
            print("one", "two", file=file)
            file.writelines(["three\n"])
            file.seek(0)
            lines = [line for line in file]
            failure = attempt(file.write, "é")
            file.truncate(0)
            file.seek(0)
        return [lines, failure, file.closed, attempt(file.read)]
    finally:
        os.remove(path)
