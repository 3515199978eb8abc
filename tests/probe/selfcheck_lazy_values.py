"""A check of the probe's lazy values on whichever interpreter runs it; stdlib only, Python 3.9 on.

Their code is read as bytecode, which every version of Python writes differently.

usage: selfcheck_lazy_values.py DIRECTORY_OF_THE_PROBE
"""

from __future__ import annotations

import functools
import importlib
import pathlib
import sys
import types
from typing import Any

ran: list[int] = []


def fetch() -> Any:
    ran.append(1)
    return [1, 2]


class Assigns:
    """What it is evaluated to takes several lines."""

    def __init__(self) -> None:
        self._rows: Any = None

    def _load(self) -> None:
        if self._rows is None:
            self._rows = list(
                fetch(),
            )

    def __getstate__(self) -> Any:
        self._load()
        return self.__dict__

    def __repr__(self) -> str:
        self._load()
        return f"rows {self._rows}"


class Inherits(Assigns):
    def __getstate__(self) -> Any:
        return dict(super().__getstate__())


class Slotted:
    __slots__ = ("_value",)
    _value: Any

    def _load(self) -> Any:
        try:
            return self._value
        except AttributeError:
            object.__setattr__(self, "_value", fetch())

    def __reduce__(self) -> Any:
        return Slotted, (), self._load()


class Stores:
    def __reduce__(self) -> Any:
        self.__dict__["value"] = fetch()
        return Stores, ()


class Property:
    @property
    def value(self) -> Any:
        self._value = fetch()
        return self._value

    def __reduce__(self) -> Any:
        return Property, (self.value,)


class Cached:
    def __init__(self) -> None:
        self.name = "cached"

    @functools.cached_property
    def rows(self) -> Any:
        return fetch()

    def __repr__(self) -> str:
        return f"Cached({len(self.rows)})"


class Shows:
    def __init__(self) -> None:
        self.inner = Cached()

    def __repr__(self) -> str:
        return f"Shows({self.inner!r})"


def check_pickling(lazy_values: Any, self_changes: Any) -> None:
    for cls in (Assigns, Inherits, Slotted, Stores, Property):
        study, value = lazy_values.study_pickling(cls), cls()
        assert study.watched, cls
        try:
            self_changes.call_unchanged(lambda value=value: value.__reduce_ex__(4), study.watched)
        except self_changes.WouldChange:
            assert not ran, cls
        else:
            raise AssertionError(cls)
    loaded = Assigns()
    loaded._rows = []
    study = lazy_values.study_pickling(Assigns)
    assert self_changes.call_unchanged(lambda: loaded.__reduce_ex__(4), study.watched)
    assert not lazy_values.study_pickling(Cached)
    assert not lazy_values.study_pickling(pathlib.PurePosixPath)


def check_showing(previews: Any) -> None:
    def text(value: Any) -> str:
        return str(previews.Preview(evaluates=False).text(value))

    assert text(Assigns()) == "<Assigns _rows=None>", text(Assigns())
    assert text(Cached()) == "<Cached name='cached'>", text(Cached())
    assert text(Shows()) == "<Shows inner=<Cached name='cached'>>", text(Shows())
    assert not ran
    cached = Cached()
    assert cached.rows
    assert text(cached) == "Cached(2)", text(cached)


def main() -> None:
    package = types.ModuleType("_holdfast")
    package.__path__ = [sys.argv[1]]
    sys.modules["_holdfast"] = package
    lazy_values = importlib.import_module("_holdfast.lazy_values")
    check_pickling(lazy_values, importlib.import_module("_holdfast.self_changes"))
    check_showing(importlib.import_module("_holdfast.previews"))
    print("ok")


main()
