"""What a type has under each name, and what calling it gives."""

from __future__ import annotations

import functools
import inspect
import sys
import types
from collections.abc import Callable
from typing import Any

from holdfast.client.hidden_frames import hide_module
from holdfast.client.proxy_base import without_interception

# Past any metaclass, which may answer otherwise.
_read_mro: Callable[[type], tuple[type, ...]] = type.__dict__["__mro__"].__get__
_read_dict: Callable[[type], Any] = type.__dict__["__dict__"].__get__

PROPERTIES = (property, functools.cached_property)
_ROUTINES = (
    *(types.FunctionType, types.MethodType, types.BuiltinFunctionType, types.MethodWrapperType),
    *(types.MethodDescriptorType, types.WrapperDescriptorType, types.ClassMethodDescriptorType),
)
_KNOWN_ATTRIBUTES = frozenset(("__wrapped__", "__isabstractmethod__"))
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


def is_routine(cls: type) -> bool:
    """Whether objects of this type are functions or methods, whatever they are written in."""
    if issubclass(cls, _ROUTINES):
        return True
    if issubclass(cls, functools.partial) or not hasattr(cls, "__get__"):
        return False
    # Others bind as functions do: those of Cython or numba, and what `lru_cache` makes.
    call = find_member(cls, "__call__")[1]
    return type(call) is types.WrapperDescriptorType and not hasattr(cls, "__set__")


def own_fields(target: Any) -> Any:
    """The attributes of the object itself, past any `__getattribute__`; it may have none."""
    try:
        return object.__getattribute__(target, "__dict__")
    except Exception:  # a class may make a property of it
        return {}


def is_method(target: Any, name: str, value: Any) -> bool:
    """Whether the attribute `value` of the target is one of its methods.

    A callable object that the attribute holds is none: it stays that object.
    """
    if is_special(name) or not callable(value) or issubclass(type(value), type):
        return False
    is_there, member = find_member(type(target), name)
    if is_there and isinstance(member, PROPERTIES):
        return False
    if is_routine(type(value)):
        return True
    return is_there and _makes_methods(member) and name not in own_fields(target)


def _makes_methods(member: Any) -> bool:
    """Whether a class has it in place of a function: something to call that binds to instances."""
    cls = type(member)
    if issubclass(cls, (functools.partialmethod, functools.singledispatchmethod)):
        return True
    if issubclass(cls, functools.partial) and sys.version_info < (3, 14):
        return False  # it has `__get__` in 3.13, but only to warn
    if issubclass(cls, (type, staticmethod, *FIELDS)) or hasattr(cls, "__set__"):
        return False  # a static method that is not a function stays that object
    return hasattr(cls, "__get__") and callable(unwrap_method(member))


def is_plain_function(member: Any) -> bool:
    """Whether it is a function without attributes of its own, which a method can stand for."""
    function = unwrap_method(member)
    if type(function) is types.FunctionType:
        return not (function.__dict__.keys() - _KNOWN_ATTRIBUTES)
    return issubclass(type(function), _ROUTINES)


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
