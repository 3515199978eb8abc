"""What a type has under each name, and what calling it gives."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any

from holdfast.client.hidden_frames import hide_module
from holdfast.client.proxy_base import without_interception

# Past any metaclass, which may answer otherwise.
_read_mro: Callable[[type], tuple[type, ...]] = type.__dict__["__mro__"].__get__
_read_dict: Callable[[type], Any] = type.__dict__["__dict__"].__get__

PROPERTIES = (property, functools.cached_property)
FIELDS = (types.GetSetDescriptorType, types.MemberDescriptorType)


def list_members(cls: type) -> dict[str, Any]:
    """What the type has under each name, without what every object has."""
    members: dict[str, Any] = {}
    for base in reversed(_read_mro(cls)):
        if base is not object:
            members.update(_read_dict(base))
    return members


def find_member(cls: type, name: str) -> tuple[bool, Any]:
    """Whether the type has this name, and what it is."""
    for base in _read_mro(cls):
        members = _read_dict(base)
        if name in members:
            return True, members[name]
    return False, None


def bind_special(target: Any, name: str) -> Any:
    """A special method, looked up in the type as the interpreter does."""
    is_there, member = find_member(type(target), name)
    if not is_there:
        raise AttributeError(name)
    if target is None:  # which `__get__` takes for "no instance"
        return functools.partial(member, None)
    bind = getattr(type(member), "__get__", None)
    return member if bind is None else bind(member, target, type(target))


def is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def is_method(cls: type, name: str, value: Any) -> bool:
    """Whether the attribute `value`, of an instance of `cls`, is something to call."""
    if is_special(name) or isinstance(value, type) or not callable(value):
        return False
    return not isinstance(find_member(cls, name)[1], PROPERTIES)


def qualname_of(function: Any) -> str | None:
    name = getattr(function, "__qualname__", None)
    return name if type(name) is str else None


def unwrap_method(member: Any) -> Any:
    return member.__func__ if isinstance(member, (staticmethod, classmethod)) else member


# -- what a call gives -----------------------------------------------------------------------------


def is_coroutine_function(function: Any) -> bool:
    return _passes(function, inspect.iscoroutinefunction)


def is_async_generator_function(function: Any) -> bool:
    return _passes(function, inspect.isasyncgenfunction)


def result_kind(function: Any) -> str:
    """What a call gives: "coroutine", "asyncgen", "generator", or "" for just a value."""
    if is_coroutine_function(function):
        return "coroutine"
    if is_async_generator_function(function):
        return "asyncgen"
    return "generator" if _passes(function, inspect.isgeneratorfunction) else ""


def _passes(function: Any, test: Callable[[Any], bool]) -> bool:
    """Whether the function, or the `__call__` of its type, passes the test."""
    with without_interception():
        return test(function) or test(find_member(type(function), "__call__")[1])


hide_module(__name__)
