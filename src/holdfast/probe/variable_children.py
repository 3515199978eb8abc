"""The children of a value: its items, entries, attributes, rows or columns.

Each kind of value pages, finds and assigns its children in its own way; `children_of` chooses the
kind. Assigning goes through the object's own `__setitem__` or `__setattr__`.
"""

from __future__ import annotations

import sys
import types

from . import introspection, numpy_pandas, previews

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, List, Optional

    from .bounded_calls import Budget


class Child:
    """One item, entry or attribute, under the name that it is shown by."""

    __slots__ = ("index", "name", "value")

    def __init__(self, name: str, value: Any, index: Optional[int] = None) -> None:
        self.name = name
        self.value = value
        self.index = index


class Children:
    """The children of one value; a subclass for each kind of value."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def total(self) -> int:
        raise NotImplementedError

    def indexed(self) -> int:
        """How many of them are items, not attributes; those come first."""
        return self.total()

    def page(self, start: int, stop: int, budget: Budget) -> List[Child]:
        raise NotImplementedError

    def find(self, name: str) -> Any:
        raise NotImplementedError

    def assign(self, name: str, new_value: Any) -> None:
        raise NotImplementedError

    def missing_error(self, name: str) -> KeyError:
        return KeyError("%s has no item %s" % (introspection.type_name(type(self.value)), name))

    def immutable_error(self) -> TypeError:
        return TypeError("a %s cannot be changed" % introspection.type_name(type(self.value)))


class Items(Children):
    """A list, tuple, deque, range, set or view."""

    def total(self) -> int:
        return introspection.length(self.value) or 0

    def page(self, start: int, stop: int, budget: Budget) -> List[Child]:
        names = introspection.field_names(self.value)
        items = introspection.slice_sequence(self.value, start, stop)
        return [
            Child(names[index] if names else str(index), item, index)
            for index, item in enumerate(items, start)
        ]

    def find(self, name: str) -> Any:
        index = self._index(name)
        items = introspection.slice_sequence(self.value, index, index + 1)
        if not items:
            raise IndexError("index %d is gone" % index)
        return items[0]

    def assign(self, name: str, new_value: Any) -> None:
        if issubclass(type(self.value), _IMMUTABLE):
            raise self.immutable_error()
        self.value[self._index(name)] = new_value

    def _index(self, name: str) -> int:
        names = introspection.field_names(self.value)
        index = names.index(name) if name in names else parse_index(name)
        if index is None:
            raise self.missing_error(name)
        return check_index(index, self.total())


class Entries(Children):
    """A dict, its entries named by the repr of their keys."""

    def total(self) -> int:
        return dict.__len__(self.value)

    def page(self, start: int, stop: int, budget: Budget) -> List[Child]:
        pairs = introspection.slice_items(self.value, start, stop)
        return [Child(previews.render_label(key, budget), item) for key, item in pairs]

    def find(self, name: str) -> Any:
        return dict.__getitem__(self.value, self.find_key(name))

    def assign(self, name: str, new_value: Any) -> None:
        self.value[self.find_key(name)] = new_value

    def find_key(self, name: str) -> Any:
        for guess in self._guesses(name):
            if dict.__contains__(self.value, guess) and previews.render_label(guess) == name:
                return guess
        for key, _ in introspection.slice_items(self.value, 0, sys.maxsize):
            if previews.render_label(key) == name:
                return key
        if dict.__contains__(self.value, name):  # a string key, given without its quotes
            return name
        raise self.missing_error(name)

    def _guesses(self, name: str) -> List[Any]:
        """The keys that nearly every dict has, so that finding one need not walk it."""
        number = parse_index(name)
        return [name[1:-1]] if number is None else [number]


class Names(Children):
    """A scope: any mapping of plain names."""

    def total(self) -> int:
        return len(self.value)

    def indexed(self) -> int:
        return 0

    def page(self, start: int, stop: int, budget: Budget) -> List[Child]:
        pairs = introspection.copy_slice(self.value.items, start, stop)
        return [Child(str(name), item) for name, item in pairs]

    def find(self, name: str) -> Any:
        if name not in self.value:
            raise KeyError("there is no variable called %s here" % name)
        return self.value[name]

    def assign(self, name: str, new_value: Any) -> None:
        self.find(name)
        self.value[name] = new_value


class Attributes(Children):
    """The attributes of an instance itself."""

    def total(self) -> int:
        return introspection.attribute_count(self.value)

    def indexed(self) -> int:
        return 0

    def page(self, start: int, stop: int, budget: Budget) -> List[Child]:
        pairs = introspection.attributes(self.value)[start:stop]
        return [Child(_attribute_name(name), item) for name, item in pairs]

    def find(self, name: str) -> Any:
        for attribute, item in introspection.attributes(self.value):
            if _attribute_name(attribute) == name:
                return item
        owner = introspection.type_name(type(self.value))
        raise AttributeError("%s object has no attribute %s of its own" % (owner, name))

    def assign(self, name: str, new_value: Any) -> None:
        self.find(name)
        setattr(self.value, name, new_value)


class ItemsAndAttributes(Children):
    """Items, and then the attributes of a subclass that has both."""

    def __init__(self, items: Children, attributes: Children) -> None:
        super().__init__(items.value)
        self._items = items
        self._attributes = attributes

    def total(self) -> int:
        return self._items.total() + self._attributes.total()

    def indexed(self) -> int:
        return self._items.total()

    def page(self, start: int, stop: int, budget: Budget) -> List[Child]:
        size = self._items.total()
        children = self._items.page(start, min(stop, size), budget) if start < size else []
        if stop > size:
            children += self._attributes.page(max(0, start - size), stop - size, budget)
        return children

    def find(self, name: str) -> Any:
        return self._holder(name).find(name)

    def assign(self, name: str, new_value: Any) -> None:
        self._holder(name).assign(name, new_value)

    def _holder(self, name: str) -> Children:
        try:
            self._attributes.find(name)
        except AttributeError:
            return self._items
        return self._attributes


class Rows(Children):
    """A numpy array, by its first dimension."""

    def total(self) -> int:
        return int(numpy_pandas.as_ndarray(self.value).shape[0])

    def page(self, start: int, stop: int, budget: Budget) -> List[Child]:
        plain = numpy_pandas.as_ndarray(self.value)
        indexes = range(start, min(stop, int(plain.shape[0])))
        return [Child(str(index), plain[index], index) for index in indexes]

    def find(self, name: str) -> Any:
        return numpy_pandas.as_ndarray(self.value)[self._index(name)]

    def assign(self, name: str, new_value: Any) -> None:
        self.value[self._index(name)] = new_value

    def _index(self, name: str) -> int:
        index = parse_index(name)
        if index is None:
            raise self.missing_error(name)
        return check_index(index, self.total())


class Columns(Children):
    """A DataFrame; each column is a Series."""

    def total(self) -> int:
        return int(self.value.shape[1])

    def page(self, start: int, stop: int, budget: Budget) -> List[Child]:
        stop = min(stop, self.total())
        names = numpy_pandas.column_labels(self.value, start, stop, previews.Preview(budget=budget))
        return [
            Child(name, self.value.iloc[:, index], index) for index, name in enumerate(names, start)
        ]

    def find(self, name: str) -> Any:
        return self.value.iloc[:, self.position(name)]

    def assign(self, name: str, new_value: Any) -> None:
        position = self.position(name)
        if hasattr(self.value, "isetitem"):  # from pandas 1.5 on; tells equal names apart
            self.value.isetitem(position, new_value)
        else:
            self.value[self.value.columns[position]] = new_value

    def position(self, name: str) -> int:
        names = numpy_pandas.column_labels(self.value, 0, self.total(), previews.Preview())
        if name in names:
            return names.index(name)
        index = parse_index(name)
        if index is None:
            raise self.missing_error(name)
        return check_index(index, self.total())


class Cells(Children):
    """A Series, named by its index."""

    def total(self) -> int:
        return int(self.value.shape[0])

    def page(self, start: int, stop: int, budget: Budget) -> List[Child]:
        stop = min(stop, self.total())
        names = list(self.value.index[start:stop])
        return [
            Child(previews.render_label(name, budget), self.value.iloc[index], index)
            for index, name in enumerate(names, start)
        ]

    def find(self, name: str) -> Any:
        return self.value.iloc[self.position(name)]

    def assign(self, name: str, new_value: Any) -> None:
        self.value.iloc[self.position(name)] = new_value

    def position(self, name: str) -> int:
        for index, key in enumerate(self.value.index):
            if previews.render_label(key) == name or (type(key) is str and key == name):
                return index
        number = parse_index(name)
        if number is None:
            raise self.missing_error(name)
        return check_index(number, self.total())


_IMMUTABLE = (tuple, set, frozenset, range) + introspection.VIEWS
_WITHOUT_CHILDREN = (
    type,
    types.ModuleType,
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    str,
    bytes,
    bytearray,
    memoryview,
)
_ITEMS = (range,) + introspection.SLICEABLE + introspection.ITERABLE


def children_of(value: Any) -> Optional[Children]:
    """The children of a value, or None when it has none."""
    cls = type(value)
    if issubclass(cls, _WITHOUT_CHILDREN) or introspection.is_enum(cls):
        return None
    children = _table_children(value) or _container_children(value)
    return children if children.total() else None


def _table_children(value: Any) -> Optional[Children]:
    kind = numpy_pandas.table_kind(type(value))
    if kind == "array" and numpy_pandas.as_ndarray(value).ndim:
        return Rows(value)
    if kind == "frame":
        return Columns(value)
    return Cells(value) if kind == "series" else None


def _container_children(value: Any) -> Children:
    cls = type(value)
    attributes = Attributes(value)
    if issubclass(cls, dict):
        items: Children = Entries(value)
    elif issubclass(cls, _ITEMS):
        items = Items(value)
    else:
        return attributes
    return ItemsAndAttributes(items, attributes) if attributes.total() else items


def _attribute_name(name: Any) -> str:
    return name if type(name) is str else previews.render_label(name)


def parse_index(name: str) -> Optional[int]:
    try:
        return int(name)
    except ValueError:
        return None


def check_index(index: int, total: int) -> int:
    if not 0 <= index < total:
        raise IndexError("index %d is outside 0 to %d" % (index, total - 1))
    return index
