"""Makes proxies, and the class of proxies for each type of target."""

from __future__ import annotations

import functools
import inspect
import sys
import types
import weakref
from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.client import operators, proxy_methods
from holdfast.client.hidden_frames import hide_module, stripped
from holdfast.client.proxy import AsyncDebugProxy, DebugProxy
from holdfast.client.proxy_base import (
    is_proxy,
    read_target,
    write_alias,
    write_options,
    write_snapshot,
    write_target,
)
from holdfast.client.proxy_options import NO_OPTIONS, ProxyOptions
from holdfast.client.snapshots import Snapshot
from holdfast.client.type_members import (
    bind_special,
    is_plain_function,
    is_routine,
    is_special,
    list_members,
    own_fields,
    result_kind,
    unwrap_method,
)

# Special names that are not calls on the object: how it is made, stored, described and found.
_NOT_CALLS = frozenset(
    """__new__ __init__ __del__ __class__ __class_getitem__ __init_subclass__ __subclasshook__
    __getattribute__ __getattr__ __setattr__ __delattr__ __dir__ __dict__ __slots__ __weakref__
    __doc__ __module__ __annotations__ __annotate__ __annotate_func__ __eq__ __ne__ __hash__
    __reduce__ __reduce_ex__ __getstate__ __setstate__ __getnewargs__ __getnewargs_ex__ __copy__
    __deepcopy__ __sizeof__ __match_args__ __abstractmethods__ __set_name__ __get__ __set__
    __delete__ __instancecheck__ __subclasscheck__ __prepare__ __mro_entries__ __subclasses__
    __call__ __await__ __buffer__ __release_buffer__ __static_attributes__ __firstlineno__
    __post_init__ __dataclass_fields__ __dataclass_params__ __replace__ __orig_bases__
    __parameters__ __wrapped__""".split()  # noqa: SIM905 - a list would be a page long
)
# What every object has, and a proxy has from its target.
_FORWARDED = (
    *("__class__", "__doc__", "__module__", "__dict__", "__init__", "__new__", "__sizeof__"),
    *("__getstate__", "__init_subclass__", "__subclasshook__"),
)
_AWAITED = ("__aenter__", "__aexit__", "__anext__")
_SCALARS = (str, bytes, int, float, complex, bool)
_NONE: frozenset[str] = frozenset()
_SELF = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
# The flags by which the interpreter matches a subject with `[…]` and with `{…}`.
_PATTERN_FLAGS: dict[int, Any] = {1 << 5: Sequence, 1 << 6: Mapping}

Key = tuple[str, frozenset[str]]
"""What calling a target gives, and those of its type's methods that it has something else for."""

_classes: weakref.WeakKeyDictionary[type, dict[Key, type]] = weakref.WeakKeyDictionary()
_write_class: Any = object.__dict__["__class__"].__set__  # past the property of the proxy


def wrap(
    target: Any,
    alias: str | None,
    snapshot: Snapshot | None,
    options: ProxyOptions = NO_OPTIONS,
) -> Any:
    """A proxy for `target`. Without a snapshot, one is taken at the first call."""
    proxy: Any = object.__new__(proxy_class(target))
    write_target(proxy, target)
    write_alias(proxy, alias)
    write_options(proxy, options)
    write_snapshot(proxy, snapshot)
    return proxy


def proxy_class(target: Any) -> type:
    """The class of proxies for the target's type, and for what calling the target gives."""
    cls = type(target)
    kind = result_kind(target) if callable(target) else ""
    classes = _classes.setdefault(cls, {})
    if (kind, _NONE) not in classes:
        classes[kind, _NONE] = _build_class(cls, kind, target, _NONE)
    hidden = _list_hidden(target, classes[kind, _NONE])
    if hidden and (kind, hidden) not in classes:
        classes[kind, hidden] = _build_class(cls, kind, target, hidden)
    return classes[kind, hidden]


def _list_hidden(target: Any, proxies: Any) -> frozenset[str]:
    """The methods of the type that the target has an attribute of its own in place of."""
    fields = own_fields(target)
    names: frozenset[str] = proxies._holdfast_methods.intersection(fields)
    return frozenset(name for name in names if not is_routine(type(fields[name])))


@stripped
def _set_attribute(self: Any, name: str, value: Any) -> None:
    """`__setattr__`: the target's. What takes the place of a method is found from now on."""
    target = read_target(self)
    setattr(target, name, value)
    if name in type(self)._holdfast_methods or name in ("__class__", "__dict__"):
        _write_class(self, proxy_class(target))


@stripped
def _delete_attribute(self: Any, name: str) -> None:
    target = read_target(self)
    delattr(target, name)
    if name in type(self)._holdfast_methods:
        _write_class(self, proxy_class(target))


def _build_class(cls: type, kind: str, target: Any, hidden: frozenset[str]) -> type:
    members = list_members(cls)
    space: dict[str, Any] = {"__slots__": ()}
    is_async = kind in proxy_methods.DEFERRED or "__aiter__" in members
    methods: set[str] = set()
    for name, member in members.items():
        method, is_awaited = _build_member(cls, name, member)
        if method is not None and not is_special(name):
            methods.add(name)
        if method is not None and name not in hidden:
            space[name] = _copy_description(method, member)
        is_async = is_async or is_awaited
    for name in ("__str__", "__repr__", "__format__"):
        space.setdefault(name, proxy_methods.build_special(name, f"{cls.__qualname__}.{name}"))
    if "__add__" in space and "__radd__" not in space:  # [0] + proxy: lists leave it to the other
        operate = operators.BINARY["__radd__"]
        qualname = f"{cls.__qualname__}.__radd__"
        space["__radd__"] = proxy_methods.build_operator("__radd__", qualname, operate)
    if "__call__" in members:
        space["__call__"] = proxy_methods.build_call(kind)
    if "__await__" in members:
        space["__await__"], is_async = proxy_methods.await_target, True
    space["_holdfast_methods"] = frozenset(methods)
    _add_attributes(space, cls, members)
    _add_protocols(space, cls, members, target)
    base = AsyncDebugProxy if is_async else DebugProxy
    # The interpreter's messages have the name, what people read of the class the qualified name.
    space["__qualname__"] = f"{base.__name__}[{cls.__name__}]"
    proxies = type(cls.__name__, (base,), space)
    proxies.__slots__ = _forward("__slots__")  # type: ignore[attr-defined]
    for flag, pattern in _PATTERN_FLAGS.items():
        if cls.__flags__ & flag:
            pattern.register(proxies)
    return proxies


def _build_member(cls: type, name: str, member: Any) -> tuple[Any, bool]:
    """A method for the proxy's class, or None; and whether its result is to be awaited."""
    qualname = f"{cls.__qualname__}.{name}"
    function = unwrap_method(member)
    if is_special(name):
        if name in _NOT_CALLS or member is None or not callable(function):
            return None, False
        return _build_special_member(cls, name, qualname), name in _AWAITED
    if is_proxy(member) or not is_routine(type(function)):
        return None, False
    kind = result_kind(function)
    is_awaited = kind in proxy_methods.DEFERRED
    if not is_plain_function(member):  # its attributes are found through the target's
        return None, is_awaited
    return proxy_methods.build_method(name, qualname, kind), is_awaited


def _build_special_member(cls: type, name: str, qualname: str) -> Any:
    if name in _AWAITED:
        return proxy_methods.build_async_special(name, qualname)
    if name in proxy_methods.ARRAY_BUILDERS:
        return proxy_methods.ARRAY_BUILDERS[name](name, qualname)
    if name in operators.BINARY:
        return proxy_methods.build_operator(name, qualname, operators.BINARY[name])
    if name in operators.INPLACE:
        return proxy_methods.build_inplace(name, qualname, operators.INPLACE[name])
    return proxy_methods.build_special(name, qualname, unwraps=cls in _SCALARS)


def _copy_description(method: Any, member: Any) -> Any:
    """Give the method the name, the documentation and the signature of what it stands for."""
    try:
        described: Any = functools.wraps(unwrap_method(member))(method)
        if isinstance(member, staticmethod):  # bound to the proxy, it loses its first parameter
            signature = inspect.signature(member.__func__)
            parameters = (_SELF, *signature.parameters.values())
            described.__signature__ = signature.replace(parameters=parameters)
    except Exception:  # the member's own attributes may raise anything
        return method
    return described


def _add_attributes(space: dict[str, Any], cls: type, members: dict[str, Any]) -> None:
    """Add attributes that the interpreter reads from the class: they are the target's."""
    space["__setattr__"], space["__delattr__"] = _set_attribute, _delete_attribute
    for name in _FORWARDED:
        space[name] = _forward(name)
    if isinstance(members.get("__module__"), str):
        space["__module__"] = members["__module__"]
    for name in ("__dataclass_fields__", "__dataclass_params__", "__match_args__"):
        if name in members:
            space[name] = members[name]
    space["__hash__"] = None if getattr(cls, "__hash__", None) is None else DebugProxy.__hash__
    if issubclass(cls, type):
        space["__mro_entries__"] = lambda self, bases: (read_target(self),)
        space["__instancecheck__"] = _check_instance
        space["__subclasscheck__"] = _check_subclass
        space["__signature__"] = property(_read_signature)
    if cls is types.FunctionType:
        space["__get__"] = _bind
    else:
        for name in ("__get__", "__set__", "__delete__", "__set_name__"):
            if name in members and cls is not type:
                space[name] = _build_descriptor_method(name)


def _forward(name: str) -> property:
    return property(functools.partial(_read_attribute, name))


@stripped
def _read_attribute(name: str, proxy: Any) -> Any:
    return getattr(read_target(proxy), name)


@stripped
def _read_signature(proxy: Any) -> inspect.Signature:
    """That of a class, which `inspect` would otherwise take from the proxy's `__call__`."""
    return inspect.signature(read_target(proxy))


def _bind(self: Any, instance: Any, owner: Any = None) -> Any:
    """`__get__`: a wrapped function in a class body is still a method."""
    return self if instance is None else types.MethodType(self, instance)


@stripped
def _check_instance(self: Any, other: Any) -> bool:
    return isinstance(other, read_target(self))


@stripped
def _check_subclass(self: Any, other: Any) -> bool:
    return issubclass(other, read_target(self))


def _build_descriptor_method(name: str) -> Any:
    """`__get__` and its like, of a target that is a descriptor. They are not intercepted."""

    @stripped
    def method(self: Any, /, *args: Any) -> Any:
        return bind_special(read_target(self), name)(*args)

    return method


def _add_protocols(space: dict[str, Any], cls: type, members: dict[str, Any], target: Any) -> None:
    """Add what the interpreter learns of a type otherwise than by the names of its methods."""
    if "__buffer__" in members or (sys.version_info < (3, 12) and _has_buffer(target)):
        space.setdefault("__bytes__", proxy_methods.build_bytes(f"{cls.__qualname__}.__bytes__"))
        space["__buffer__"] = lambda self, flags: memoryview(read_target(self))
    if "__iter__" in members:
        return
    if issubclass(cls, type):
        space.setdefault("__getitem__", _get_item)
    if "__getitem__" in space and not _is_iterable(target):
        space["__iter__"] = None  # else `__getitem__` would make it iterable


@stripped
def _get_item(self: Any, item: Any) -> Any:
    return read_target(self)[item]


def _has_buffer(target: Any) -> bool:
    try:
        memoryview(target).release()
    except TypeError:
        return False
    except Exception:  # this one cannot be viewed (it may be closed), but others of its type can
        return True
    return True


def _is_iterable(target: Any) -> bool:
    try:
        iter(target)
    except TypeError:
        return False
    return True


hide_module(__name__)
