"""Objects that stand for others and let the server decide about every call.

There is one generated class for each type of target. It has the methods and the special methods
that the type has, and no others, so that `callable`, `iter`, `len`, `await` and the rest find on a
proxy what they would find on the object itself; everything else is looked up in the target. Calls
give what the target's give, never proxies.
"""

from __future__ import annotations

import copy
import functools
import inspect
import operator
import sys
import types
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from holdfast.client import numpy_protocol, operators
from holdfast.client.async_generators import steps
from holdfast.client.proxy_base import (
    ProxyBase,
    interception_off,
    is_proxy,
    target_of,
    without_interception,
)
from holdfast.client.recorder import Recorder
from holdfast.client.snapshots import Snapshot
from holdfast.client.strict_call import Call, run, run_async
from holdfast.client.switch import switch

_target: Any = ProxyBase.__dict__["_holdfast_target"].__get__
_alias: Any = ProxyBase.__dict__["_holdfast_alias"].__get__
_seen: Any = ProxyBase.__dict__["_holdfast_seen"]
_mro_of: Callable[[type], tuple[type, ...]] = type.__dict__["__mro__"].__get__
_dict_of: Callable[[type], Any] = type.__dict__["__dict__"].__get__


class DebugProxy(ProxyBase):
    """A stand-in whose calls the server decides about."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        target = _target(self)
        value = getattr(target, name)
        if (
            switch.recorder is None
            or interception_off.get()
            or not _is_method(type(target), name, value)
        ):
            return value
        return _intercepting(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(_target(self), name, value)

    def __delattr__(self, name: str) -> None:
        delattr(_target(self), name)

    def __dir__(self) -> list[str]:
        return dir(_target(self))

    def __eq__(self, other: object) -> Any:
        if is_proxy(other) or switch.settings.eq == "transparent":
            return _target(self) == target_of(other)
        return False

    def __ne__(self, other: object) -> Any:
        if is_proxy(other) or switch.settings.eq == "transparent":
            return _target(self) != target_of(other)
        return True

    def __hash__(self) -> int:
        return hash(_target(self))

    # A copy or a pickle is the target's: what leaves the application has no proxies in it.

    def __copy__(self) -> Any:
        return copy.copy(_target(self))

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return copy.deepcopy(_target(self), memo)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return operator.getitem, ((_target(self),), 0)

    def __reduce__(self) -> Any:
        return self.__reduce_ex__(2)

    @property
    def _target(self) -> Any:
        """The object itself, unless that has an attribute of this name."""
        return _own(self, "_target", _target(self))

    @property
    def _cid(self) -> Any:
        """The content id of the object as it was last known."""
        return _own(self, "_cid", None) or _seen.__get__(self).cid


class AsyncDebugProxy(DebugProxy):
    """A stand-in for something with asynchronous methods."""

    __slots__ = ()


def _own(proxy: Any, name: str, default: Any) -> Any:
    return getattr(_target(proxy), name, default)


def wrap(target: Any, alias: str | None, seen: Snapshot) -> Any:
    """A proxy for `target`."""
    proxy: Any = object.__new__(proxy_class(target))
    ProxyBase.__dict__["_holdfast_target"].__set__(proxy, target)
    ProxyBase.__dict__["_holdfast_alias"].__set__(proxy, alias)
    _seen.__set__(proxy, seen)
    return proxy


_classes: weakref.WeakKeyDictionary[type, dict[str, type]] = weakref.WeakKeyDictionary()


def proxy_class(target: Any) -> type:
    """The class of proxies for things like this."""
    cls = type(target)
    gives = _gives(target) if callable(target) else ""
    made = _classes.setdefault(cls, {})
    if gives not in made:
        made[gives] = _generated(cls, gives, target)
    return made[gives]


def is_coroutine_function(function: Any) -> bool:
    return _is(function, inspect.iscoroutinefunction)


def is_async_generator_function(function: Any) -> bool:
    return _is(function, inspect.isasyncgenfunction)


def _is(function: Any, test: Callable[[Any], bool]) -> bool:
    with without_interception():
        return test(function) or test(_members(type(function)).get("__call__"))


def _gives(function: Any) -> str:
    """What a call of it gives: something to await, steps, asynchronous steps, or just a value."""
    if is_coroutine_function(function):
        return "coroutine"
    if is_async_generator_function(function):
        return "asyncgen"
    return "generator" if _is(function, inspect.isgeneratorfunction) else ""


# -- what a call through a proxy does ------------------------------------------------------------


def _called(
    proxy: Any,
    name: str,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    frame: types.FrameType,
    qualname: str | None,
    stack: str | None = None,
) -> Call:
    return Call(
        name=name,
        function=function,
        args=args,
        kwargs=kwargs,
        target=_target(proxy),
        kind="proxy",
        frame=frame,
        alias=_alias(proxy),
        qualname=qualname,
        seen=_seen.__get__(proxy),
        remember=functools.partial(_seen.__set__, proxy),
        stack=stack,
    )


def _run(
    recorder: Recorder,
    proxy: Any,
    name: str,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    frame: types.FrameType,
    qualname: str | None,
) -> Any:
    lease = recorder.lease
    if lease is None:
        return run(recorder, _called(proxy, name, function, args, kwargs, frame, qualname))
    alias, target = _alias(proxy), _target(proxy)
    return lease.run(proxy, name, function, args, kwargs, target, "proxy", alias, qualname, frame)


async def _run_async(
    recorder: Recorder,
    proxy: Any,
    name: str,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    frame: types.FrameType,
    qualname: str | None,
    stack: str | None = None,
) -> Any:
    lease = recorder.lease
    if lease is None:
        call = _called(proxy, name, function, args, kwargs, frame, qualname, stack)
        return await run_async(recorder, call)
    alias, target = _alias(proxy), _target(proxy)
    return await lease.run_async(
        proxy, name, function, args, kwargs, target, "proxy", alias, qualname, frame, stack
    )


async def _soon(
    proxy: Any,
    name: str,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    qualname: str | None,
    stack: str | None,
) -> Any:
    """The coroutine that a call gives. The stack is of where it was made."""
    recorder = switch.recorder
    if recorder is None or interception_off.get():
        return await function(*args, **kwargs)
    frame = sys._getframe(1)
    return await _run_async(recorder, proxy, name, function, args, kwargs, frame, qualname, stack)


def _in_steps(
    proxy: Any,
    name: str,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    qualname: str | None,
    stack: str | None,
) -> Any:
    """The asynchronous generator that a call gives."""

    async def start(frame: types.FrameType) -> Any:
        recorder = switch.recorder
        if recorder is None or interception_off.get():
            return function(*args, **kwargs)
        return await _run_async(
            recorder, proxy, name, function, args, kwargs, frame, qualname, stack
        )

    return steps(start)


_LATER = {"coroutine": _soon, "asyncgen": _in_steps}


def stack_of(recorder: Recorder, frame: types.FrameType) -> str | None:
    """The stack as it is now, for a call that begins when its caller may have gone on."""
    if recorder.settings.capture_locals:
        return None
    return recorder.stacks.capture(frame)


async def _a_coroutine() -> None: ...


async def _an_asyncgen() -> Any:
    yield


def _a_generator() -> Any:
    yield


_LIKE: dict[str, Any] = {
    "coroutine": _a_coroutine,
    "asyncgen": _an_asyncgen,
    "generator": _a_generator,
}


class _Function:
    """A plain function that `inspect` takes for what its call gives. It sees who calls it."""

    def __init__(self, function: Callable[..., Any], gives: str) -> None:
        self._function = function
        self.__name__ = self.__qualname__ = function.__name__
        self.__code__ = _LIKE[gives].__code__
        self.__defaults__ = self.__kwdefaults__ = None
        self.__annotations__: dict[str, Any] = {}

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)


def _method(name: str, qualname: str) -> Any:
    def method(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        function = getattr(_target(self), name)
        recorder = switch.recorder
        if recorder is None or interception_off.get():
            return function(*args, **kwargs)
        frame, lease = sys._getframe(1), recorder.lease
        if lease is not None:
            target, alias = _target(self), _alias(self)
            return lease.run(
                self, name, function, args, kwargs, target, "proxy", alias, qualname, frame
            )
        return run(recorder, _called(self, name, function, args, kwargs, frame, qualname))

    return method


def _later_method(name: str, qualname: str, gives: str) -> Any:
    later = _LATER[gives]

    def method(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        function = getattr(_target(self), name)
        recorder = switch.recorder
        if recorder is None or interception_off.get():
            return function(*args, **kwargs)
        stack = stack_of(recorder, sys._getframe(2))
        return later(self, name, function, args, kwargs, qualname, stack)

    return _Function(method, gives)


def _generator_method(name: str, qualname: str) -> Any:
    def method(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        function = getattr(_target(self), name)
        recorder = switch.recorder
        if recorder is None or interception_off.get():
            return function(*args, **kwargs)
        frame = sys._getframe(2)
        return _run(recorder, self, name, function, args, kwargs, frame, qualname)

    return _Function(method, "generator")


def _special(name: str, qualname: str, sees_through: bool) -> Any:
    """A special method is looked up in the type, as the interpreter does."""

    def method(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        target = _target(self)
        if sees_through:
            args = tuple(map(target_of, args))
        function = _bound(target, name)
        recorder = switch.recorder
        if recorder is None or interception_off.get():
            return function(*args, **kwargs)
        frame = sys._getframe(1)
        return _run(recorder, self, name, function, args, kwargs, frame, qualname)

    return method


def _async_special(name: str, qualname: str) -> Any:
    async def method(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        function = _bound(_target(self), name)
        recorder = switch.recorder
        if recorder is None or interception_off.get():
            return await function(*args, **kwargs)
        frame = sys._getframe(1)
        return await _run_async(recorder, self, name, function, args, kwargs, frame, qualname)

    return method


def _operator(name: str, qualname: str, operate: operators.Binary) -> Any:
    def method(self: Any, other: Any, /) -> Any:
        other = target_of(other)
        function = functools.partial(operate, _target(self))
        recorder = switch.recorder
        if recorder is None or interception_off.get():
            return function(other)
        frame = sys._getframe(1)
        return _run(recorder, self, name, function, (other,), {}, frame, qualname)

    return method


def _inplace(name: str, qualname: str, operate: operators.Binary) -> Any:
    plain = _operator(name, qualname, operate)

    def method(self: Any, other: Any, /) -> Any:
        result = plain(self, other)
        return self if result is _target(self) else result

    return method


def _array_ufunc(name: str, qualname: str) -> Any:
    def method(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        args, kwargs = numpy_protocol.unwrapped(args), numpy_protocol.unwrapped(kwargs)
        recorder = switch.recorder
        if recorder is None or interception_off.get():
            return numpy_protocol.ufunc(*args, **kwargs)
        frame = sys._getframe(1)
        return _run(recorder, self, name, numpy_protocol.ufunc, args, kwargs, frame, qualname)

    return method


def _array_function(name: str, qualname: str) -> Any:
    def method(self: Any, function: Any, kinds: Any, args: Any, kwargs: Any) -> Any:
        kinds = numpy_protocol.real_types(kinds, _target(self))
        asked = (function, kinds, numpy_protocol.unwrapped(args), numpy_protocol.unwrapped(kwargs))
        recorder = switch.recorder
        if recorder is None or interception_off.get():
            return numpy_protocol.function(*asked)
        frame = sys._getframe(1)
        return _run(recorder, self, name, numpy_protocol.function, asked, {}, frame, qualname)

    return method


_ARRAYS = {"__array_ufunc__": _array_ufunc, "__array_function__": _array_function}


def _bytes(qualname: str) -> Any:
    def method(self: Any, /) -> bytes:
        function = functools.partial(bytes, _target(self))
        recorder = switch.recorder
        if recorder is None or interception_off.get():
            return function()
        frame = sys._getframe(1)
        found: bytes = _run(recorder, self, "__bytes__", function, (), {}, frame, qualname)
        return found

    return method


def _call_name(proxy: Any, target: Any) -> str:
    """A function is known by its name, any other callable by what is called."""
    alias = _alias(proxy)
    if alias is not None:
        return str(alias)
    name = getattr(target, "__name__", None)
    return name if isinstance(name, str) and _is_named(target) else "__call__"


def _is_named(target: Any) -> bool:
    return isinstance(target, type) or inspect.isroutine(target)


def _call(self: Any, /, *args: Any, **kwargs: Any) -> Any:
    target = _target(self)
    recorder = switch.recorder
    if recorder is None or interception_off.get():
        return target(*args, **kwargs)
    frame, lease = sys._getframe(1), recorder.lease
    if lease is not None and type(target) is types.FunctionType:
        alias, qualname = _alias(self), target.__qualname__
        name = target.__name__ if alias is None else alias
        return lease.run(self, name, target, args, kwargs, target, "proxy", alias, qualname, frame)
    name, full_name = _call_name(self, target), _full_name(target)
    if lease is None:
        return run(recorder, _called(self, name, target, args, kwargs, frame, full_name))
    return _run(recorder, self, name, target, args, kwargs, frame, full_name)


def _later_call(gives: str) -> Any:
    later = _LATER[gives]

    def call(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        target = _target(self)
        recorder = switch.recorder
        if recorder is None or interception_off.get():
            return target(*args, **kwargs)
        stack = stack_of(recorder, sys._getframe(2))
        name = _call_name(self, target)
        return later(self, name, target, args, kwargs, _full_name(target), stack)

    return _Function(call, gives)


def _await(self: Any, /) -> Any:
    """Awaiting is the call, and what is awaited its result."""
    return _awaiting(self).__await__()


async def _awaiting(proxy: Any) -> Any:
    target = _target(proxy)
    recorder = switch.recorder
    if recorder is None or interception_off.get():
        return await target
    frame = sys._getframe(1)
    return await _run_async(recorder, proxy, "__await__", lambda: target, (), {}, frame, None)


def _intercepting(proxy: Any, name: str, function: Any) -> Any:
    """A callable that the instance or its module has, rather than its type."""
    qualname = _full_name(function)

    def call(*args: Any, **kwargs: Any) -> Any:
        recorder = switch.recorder
        if recorder is None or interception_off.get():
            return function(*args, **kwargs)
        frame = sys._getframe(1)
        return _run(recorder, proxy, name, function, args, kwargs, frame, qualname)

    def call_later(*args: Any, **kwargs: Any) -> Any:
        recorder = switch.recorder
        if recorder is None or interception_off.get():
            return function(*args, **kwargs)
        stack = stack_of(recorder, sys._getframe(2))
        return _LATER[gives](proxy, name, function, args, kwargs, qualname, stack)

    gives = _gives(function)
    made: Any = _Function(call_later, gives) if gives in _LATER else call
    return functools.wraps(function)(made)


def _full_name(function: Any) -> str | None:
    found = getattr(function, "__qualname__", None)
    return found if type(found) is str else None


def _bound(target: Any, name: str) -> Any:
    cls = type(target)
    for base in _mro_of(cls):
        members = _dict_of(base)
        if name in members:
            raw = members[name]
            bind = getattr(type(raw), "__get__", None)
            if target is None:  # which `__get__` takes for "no instance"
                return functools.partial(raw, None)
            return raw if bind is None else bind(raw, target, cls)
    raise AttributeError(name)


# -- the class -----------------------------------------------------------------------------------

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
_ASYNC = ("__aenter__", "__aexit__", "__anext__")
_SCALARS = (str, bytes, int, float, complex, bool)
_PROPERTIES = (property, functools.cached_property)
_FIELDS = (types.GetSetDescriptorType, types.MemberDescriptorType)


def _members(cls: type) -> dict[str, Any]:
    """What the type has under each name, past any metaclass; what every object has is no matter."""
    found: dict[str, Any] = {}
    for base in reversed(_mro_of(cls)):
        if base is not object:
            found.update(_dict_of(base))
    return found


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _is_method(cls: type, name: str, value: Any) -> bool:
    """Whether an attribute that was found by name is to be intercepted when it is called."""
    if _is_special(name) or is_proxy(value) or isinstance(value, type) or not callable(value):
        return False
    for base in _mro_of(cls):
        if name in _dict_of(base):
            return not isinstance(_dict_of(base)[name], _PROPERTIES)
    return True


def _raw_function(member: Any) -> Any:
    return member.__func__ if isinstance(member, (staticmethod, classmethod)) else member


def _generated(cls: type, gives: str, target: Any) -> type:
    members = _members(cls)
    space: dict[str, Any] = {"__slots__": ()}
    is_async = gives in _LATER or "__aiter__" in members
    for name, member in members.items():
        made, waits = _generated_member(cls, name, member)
        if made is not None:
            space[name] = _dressed(made, member)
        is_async = is_async or waits
    for name in ("__str__", "__repr__", "__format__"):
        space.setdefault(name, _special(name, f"{cls.__qualname__}.{name}", False))
    if "__add__" in space and "__radd__" not in space:  # [0] + proxy: lists leave it to the other
        made = operators.BINARY["__radd__"]
        space["__radd__"] = _operator("__radd__", f"{cls.__qualname__}.__radd__", made)
    if "__call__" in members:
        space["__call__"] = _later_call(gives) if gives in _LATER else _call
    if "__await__" in members:
        space["__await__"], is_async = _await, True
    _add_standing(space, cls, members)
    _add_protocols(space, cls, members, target)
    base = AsyncDebugProxy if is_async else DebugProxy
    made_class = type(f"{base.__name__}[{cls.__name__}]", (base,), space)
    for flag, kind in _PATTERNS.items():
        if cls.__flags__ & flag:
            kind.register(made_class)
    return made_class


# What the interpreter looks at to match a subject with `[…]` and with `{…}`.
_PATTERNS: dict[int, Any] = {1 << 5: Sequence, 1 << 6: Mapping}


def _add_protocols(space: dict[str, Any], cls: type, members: dict[str, Any], target: Any) -> None:
    """What the interpreter finds out about a type otherwise than by the names of its methods."""
    if _has_buffer(target):
        space.setdefault("__bytes__", _bytes(f"{cls.__qualname__}.__bytes__"))
        space["__buffer__"] = lambda self, flags: memoryview(_target(self))
    if "__iter__" in members:
        return
    if issubclass(cls, type):
        space.setdefault("__getitem__", lambda self, item: _target(self)[item])
    if "__getitem__" in space and not _is_iterable(target):
        space["__iter__"] = None  # else `__getitem__` would make it so


def _has_buffer(target: Any) -> bool:
    try:
        memoryview(target).release()
    except TypeError:
        return False
    except Exception:  # this one cannot be looked at, but others of its type can
        return True
    return True


def _is_iterable(target: Any) -> bool:
    try:
        iter(target)
    except TypeError:
        return False
    return True


def _generated_member(cls: type, name: str, member: Any) -> tuple[Any, bool]:
    """A method for the proxy's class, or None; and whether it is to be awaited."""
    qualname = f"{cls.__qualname__}.{name}"
    if _is_special(name):
        if name in _NOT_CALLS or member is None or not callable(_raw_function(member)):
            return None, False
        if name in _ASYNC:
            return _async_special(name, qualname), True
        if name in _ARRAYS:
            return _ARRAYS[name](name, qualname), False
        if name in operators.BINARY:
            return _operator(name, qualname, operators.BINARY[name]), False
        if name in operators.INPLACE:
            return _inplace(name, qualname, operators.INPLACE[name]), False
        return _special(name, qualname, cls in _SCALARS), False
    function = _raw_function(member)
    if isinstance(member, (*_PROPERTIES, *_FIELDS, type)) or not callable(function):
        return None, False
    if is_proxy(member):
        return None, False
    gives = _gives(function)
    if gives in _LATER:
        return _later_method(name, qualname, gives), True
    if gives:
        return _generator_method(name, qualname), False
    return _method(name, qualname), False


def _dressed(made: Any, member: Any) -> Any:
    """With the name, the documentation and the signature of what it stands for."""
    try:
        return functools.wraps(_raw_function(member))(made)
    except Exception:  # attributes that raise are the member's own business
        return made


def _add_standing(space: dict[str, Any], cls: type, members: dict[str, Any]) -> None:
    """What a proxy says about itself is what its target says."""
    for name in ("__class__", "__doc__", "__module__", "__dict__"):
        space[name] = property(functools.partial(_passed, name))
    for name in ("__dataclass_fields__", "__dataclass_params__", "__match_args__"):
        if name in members:
            space[name] = members[name]
    space["__hash__"] = None if getattr(cls, "__hash__", None) is None else DebugProxy.__hash__
    if issubclass(cls, type):
        space["__mro_entries__"] = lambda self, bases: (_target(self),)
        space["__instancecheck__"] = lambda self, other: isinstance(other, _target(self))
        space["__subclasscheck__"] = lambda self, other: issubclass(other, _target(self))
    if cls is types.FunctionType:
        space["__get__"] = _bind
    elif "__get__" in members:
        for name in ("__get__", "__set__", "__delete__"):
            if name in members:
                space[name] = functools.partialmethod(_straight, name)


def _passed(name: str, proxy: Any) -> Any:
    return getattr(_target(proxy), name)


def _bind(self: Any, instance: Any, owner: Any = None) -> Any:
    """A wrapped function in a class body is still a method."""
    return self if instance is None else types.MethodType(self, instance)


def _straight(self: Any, name: str, *args: Any) -> Any:
    return _bound(_target(self), name)(*args)
