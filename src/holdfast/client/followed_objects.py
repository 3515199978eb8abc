"""What a call delivers: the result itself, its own proxy, or a proxy of what it returned.

A method that returns its own object returns the proxy, so that `session.add(x).commit()` goes on
being recorded. With `follow=True` the objects that methods return, yield and resolve to, and those
that attributes hold, are wrapped as well. Only what does something is followed: a value (a number,
a text, a container, a record, an array) stays what it is. docs/calls.md says exactly which.
"""

from __future__ import annotations

import array
import enum
import functools
import io
import numbers
import operator
import types
import weakref
from collections.abc import AsyncGenerator, Callable, Generator, Mapping, MappingView, Sequence, Set
from typing import Any

from holdfast.client.hidden_frames import call_from_caller, hide_module, is_compiled, strip
from holdfast.client.proxy_base import is_proxy, read_alias, read_options, read_target
from holdfast.client.switch import switch
from holdfast.client.type_members import FIELDS, is_routine, is_special, list_members

_MAX_DOTS = 4  # in the name of a followed object
_MAX_RESULTS = 16  # in a tuple; a longer one is data

# Of these, equal ones may be one object by accident: being the target says nothing.
_VALUES: tuple[type, ...] = (
    *(bool, int, float, complex, str, bytes, tuple, frozenset, range, slice, enum.Enum),
    *(type(None), type(...), type(NotImplemented)),
)
_VALUE_MODULES = frozenset(
    ("datetime", "decimal", "fractions", "ipaddress", "pathlib", "re", "uuid", "zoneinfo")
)
_DATA: tuple[type, ...] = (
    *(*_VALUES, bytearray, memoryview, list, dict, set, array.array, io.StringIO, io.BytesIO),
    *(Mapping, MappingView, Sequence, Set, numbers.Number, BaseException, type, types.ModuleType),
    *(types.SimpleNamespace, functools.partial, weakref.ref),
)
_DATA_MODULES = frozenset(("builtins", "itertools", "types", *_VALUE_MODULES))
# What classes have: of records (dataclasses, attrs, pydantic, msgspec, rows that SQLAlchemy maps),
# of arrays, and of futures, which are waited for by identity.
_DATA_MARKS = (
    *("__dataclass_fields__", "__attrs_attrs__", "__pydantic_fields__", "__fields__"),
    *("__struct_fields__", "__mapper__", "__array__", "__array_interface__", "__dataframe__"),
    *("__arrow_c_array__", "__arrow_c_stream__", "add_done_callback"),
)
_DOING = frozenset(("__call__", "__enter__", "__aenter__", "__next__", "__anext__", "__await__"))

_followed_types: weakref.WeakKeyDictionary[type, bool] = weakref.WeakKeyDictionary()


class Following:
    """The objects that were reached from one proxy. As long as one has a proxy, it has this one."""

    def __init__(self, wrap: Callable[..., Any]) -> None:
        self._wrap = wrap
        self._proxies: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()

    def add(self, proxy: Any) -> None:
        self._proxies[id(read_target(proxy))] = proxy

    def follow(self, proxy: Any, name: str, value: Any, suffix: str = "") -> Any:
        """What `value`, reached from `proxy` under this name, is delivered as."""
        if is_proxy(value):
            return value
        known = self._proxies.get(id(value))
        if known is not None and read_target(known) is value:
            return known
        if type(value) in _FOLLOWERS:
            return _FOLLOWERS[type(value)](proxy, name, value)
        if not is_followed(type(value)):
            return value
        alias = _build_alias(proxy, name, suffix)
        followed = self._wrap(value, alias, None, read_options(proxy))
        self.add(followed)
        return followed

    def unwrap(self, value: Any) -> Any:
        """The object itself, if it is one that was followed: its library knows it as that."""
        return read_target(value) if is_proxy(value) and self._is_known(value) else value

    def _is_known(self, proxy: Any) -> bool:
        return self._proxies.get(id(read_target(proxy))) is proxy


def deliver(proxy: Any, name: str, value: Any) -> Any:
    """What a call through the proxy, which returned `value`, gives to its caller."""
    following: Following | None = read_options(proxy).following
    if following is None or value is read_target(proxy):
        return _deliver_own(proxy, name, value)
    return following.follow(proxy, name, value, "()")


def _deliver_own(proxy: Any, name: str, value: Any) -> Any:
    """The same without following: only the target itself becomes its proxy."""
    if value is read_target(proxy):
        return value if is_value(value) else proxy
    if type(value) is types.CoroutineType:
        return _follow_coroutine(proxy, name, value)
    return value


def deliver_attribute(proxy: Any, name: str, value: Any) -> Any:
    """What an attribute that holds `value` is, when it is read from the proxy."""
    if value is read_target(proxy):
        return value if is_value(value) else proxy
    following: Following | None = read_options(proxy).following
    if following is None or switch.recorder is None or name.startswith("_"):
        return value
    return following.follow(proxy, name, value)


def call_unrecorded(
    proxy: Any, name: str, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Make a call that is not intercepted, because debugging is off or this is our own work.

    Nothing is followed meanwhile.
    """
    following: Following | None = read_options(proxy).following
    if following is not None:
        args, kwargs = unwrap_arguments(following, args, kwargs)
    if is_compiled(function):
        return _deliver_own(proxy, name, call_from_caller(function, *args, **kwargs))
    return _deliver_own(proxy, name, function(*args, **kwargs))


def unwrap_arguments(
    following: Following, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    named = {name: following.unwrap(value) for name, value in kwargs.items()}
    return tuple(map(following.unwrap, args)), named


def is_value(thing: Any) -> bool:
    """Whether it is immutable, and one with others like it."""
    cls = type(thing)
    return issubclass(cls, _VALUES) or _root_module(cls) in _VALUE_MODULES


def is_followed(cls: type) -> bool:
    """Whether objects of this type are wrapped when they are reached with `follow=True`."""
    known = _followed_types.get(cls)
    if known is None:
        known = _followed_types[cls] = _does_something(cls)
    return known


def _does_something(cls: type) -> bool:
    if _root_module(cls) in _DATA_MODULES or is_routine(cls) or issubclass(cls, _DATA):
        return False
    members = list_members(cls)
    if any(mark in members for mark in _DATA_MARKS):
        return False
    return any(
        name in _DOING or (not name.startswith("_") and _is_computed(type(member)))
        for name, member in members.items()
    )


def _is_computed(cls: type) -> bool:
    """Whether a class member of this type is a method or a property, and not just a field."""
    return hasattr(cls, "__get__") and not issubclass(cls, FIELDS)


def _root_module(cls: type) -> str:
    module = cls.__module__
    return module.partition(".")[0] if isinstance(module, str) else ""


def _build_alias(proxy: Any, name: str, suffix: str) -> str:
    """A name like the expression that led to the object: `db.cursor()`, `openai.chat`."""
    target = read_target(proxy)
    alias: str | None = read_alias(proxy)
    if alias is None:
        is_named = is_routine(type(target)) or isinstance(target, (type, types.ModuleType))
        alias = str(getattr(target, "__name__", "")) if is_named else type(target).__name__
        if is_named and name == alias:
            return f"{alias}()"
    if is_special(name) or name == alias:
        return alias
    if alias.count(".") >= _MAX_DOTS:
        alias = f"{alias.partition('.')[0]}.."
    return f"{alias}.{name}{suffix}"


# -- what gives its objects later ------------------------------------------------------------------


def _follow_coroutine(proxy: Any, name: str, coroutine: Any) -> Any:
    followed = _resolve(proxy, name, coroutine)
    _copy_name(followed, coroutine)
    # One that is never awaited is warned about once, not once for each of the two.
    weakref.finalize(followed, _close, coroutine).atexit = False
    return followed


async def _resolve(proxy: Any, name: str, coroutine: Any) -> Any:
    try:
        return deliver(proxy, name, await coroutine)
    except BaseException as error:
        strip(error)
        raise


def _close(coroutine: Any) -> None:
    if not coroutine.cr_running:
        coroutine.close()


def _follow_generator(proxy: Any, name: str, generator: Any) -> Any:
    followed = _iterate(proxy, name, generator)
    _copy_name(followed, generator)
    return followed


def _iterate(proxy: Any, name: str, inner: Any) -> Generator[Any, Any, Any]:
    problem: BaseException | None = None
    try:
        value = next(inner)
        while True:
            try:
                sent = yield deliver(proxy, name, value)
            except GeneratorExit:
                inner.close()
                raise
            except BaseException as thrown:  # by the reader
                strip(thrown)
                problem = thrown
            # Not in the handler, which would be the context of what the generator raises next.
            if problem is None:
                value = inner.send(sent)
            else:
                value, problem = inner.throw(problem), None
    except StopIteration as end:
        return deliver(proxy, name, end.value)
    except BaseException as error:
        strip(error)
        raise


def _follow_async_generator(proxy: Any, name: str, generator: Any) -> Any:
    followed = _iterate_async(proxy, name, generator)
    _copy_name(followed, generator)
    return followed


async def _iterate_async(proxy: Any, name: str, inner: Any) -> AsyncGenerator[Any, Any]:
    problem: BaseException | None = None
    try:
        value = await inner.__anext__()
        while True:
            try:
                sent = yield deliver(proxy, name, value)
            except BaseException as thrown:  # by the reader; closing is one of these
                strip(thrown)
                problem = thrown
            if problem is None:
                value = await inner.asend(sent)
            else:
                value, problem = await inner.athrow(problem), None
    except StopAsyncIteration:
        return
    except BaseException as error:
        strip(error)
        raise


def _copy_name(followed: Any, original: Any) -> None:
    followed.__name__, followed.__qualname__ = original.__name__, original.__qualname__


def _follow_tuple(proxy: Any, name: str, values: tuple[Any, ...]) -> Any:
    """Several results at once, such as a reader and a writer."""
    if len(values) > _MAX_RESULTS:
        return values
    followed = tuple(deliver(proxy, name, value) for value in values)
    return followed if any(map(operator.is_not, followed, values)) else values


_FOLLOWERS: dict[type, Callable[[Any, str, Any], Any]] = {
    tuple: _follow_tuple,
    types.CoroutineType: _follow_coroutine,
    types.GeneratorType: _follow_generator,
    types.AsyncGeneratorType: _follow_async_generator,
}

hide_module(__name__)
