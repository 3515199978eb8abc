"""The methods of proxies: each makes an intercepted call of the target's."""

from __future__ import annotations

import functools
import inspect
import sys
import types
from collections.abc import Callable
from typing import Any

from holdfast.client import numpy_protocol, operators
from holdfast.client.call_runner import await_call, iterate_call, run
from holdfast.client.followed_objects import call_unrecorded
from holdfast.client.hidden_frames import hide_module, strip, stripped
from holdfast.client.invocation import Invocation
from holdfast.client.proxy_base import interception_off, read_alias, read_target, target_of
from holdfast.client.recorder import Recorder
from holdfast.client.strict_call import StrictCall
from holdfast.client.switch import switch
from holdfast.client.type_members import (
    bind_special,
    is_plain_function,
    is_special,
    qualname_of,
    result_kind,
)

# How calls are made that begin when their result is awaited, by what they give.
DEFERRED: dict[str, Callable[[Invocation], Any]] = {
    "coroutine": await_call,
    "asyncgen": iterate_call,
}


def _intercept(
    proxy: Any,
    name: str,
    qualname: str | None,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """Make a call for the frame three above: a method and what strips its errors are between."""
    recorder = switch.recorder
    if recorder is None or interception_off.get():
        return call_unrecorded(proxy, name, function, args, kwargs)
    frame, leased = sys._getframe(3), recorder.leased_calls
    if leased is not None:
        target = read_target(proxy)
        return leased.run(proxy, target, name, qualname, function, args, kwargs, frame)
    invocation = Invocation(proxy, name, qualname, function, args, kwargs, frame)
    return run(StrictCall(recorder, invocation).steps())


def _defer(
    proxy: Any,
    kind: str,
    name: str,
    qualname: str | None,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """Prepare a call for the frame three above; it begins when its result is awaited."""
    recorder = switch.recorder
    if recorder is None or interception_off.get():
        return call_unrecorded(proxy, name, function, args, kwargs)
    stack = capture_stack(recorder, sys._getframe(3))
    invocation = Invocation(proxy, name, qualname, function, args, kwargs, None, stack=stack)
    return start_later(kind, invocation)


def start_later(kind: str, invocation: Invocation) -> Any:
    """A coroutine or an asynchronous generator, which has the name of what it stands for."""
    deferred = DEFERRED[kind](invocation)
    deferred.__name__ = invocation.name
    deferred.__qualname__ = invocation.qualname or invocation.name
    return deferred


def capture_stack(recorder: Recorder, frame: types.FrameType) -> str | None:
    """The stack as it is now, for a call that begins later. Locals are captured when it begins."""
    return None if recorder.settings.capture_locals else recorder.stacks.capture(frame)


async def _example_coroutine() -> None: ...


async def _example_asyncgen() -> Any:
    yield


def _example_generator() -> Any:
    yield


_EXAMPLES: dict[str, Any] = {
    "coroutine": _example_coroutine,
    "asyncgen": _example_asyncgen,
    "generator": _example_generator,
}


class _Function:
    """A plain function that `inspect` takes for one that gives, say, a coroutine.

    It has to be a plain function, because only that sees the frame of its caller. All other
    attributes are those of `original`, if that is given.
    """

    def __init__(self, function: Callable[..., Any], kind: str, original: Any = None) -> None:
        fields = self.__dict__
        fields["_function"], fields["_original"] = function, original
        if original is None:
            fields["__name__"] = fields["__qualname__"] = function.__name__
        if kind in _EXAMPLES:
            fields["__code__"] = _EXAMPLES[kind].__code__
            fields["__defaults__"] = fields["__kwdefaults__"] = None
            fields["__annotations__"] = {}

    def __getattr__(self, name: str) -> Any:
        original = self.__dict__["_original"]
        if original is None:
            raise AttributeError(f"'function' object has no attribute '{name}'")
        return getattr(original, name)

    def __setattr__(self, name: str, value: Any) -> None:
        original = self.__dict__["_original"]
        if original is None or is_special(name):
            self.__dict__[name] = value
        else:
            setattr(original, name, value)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        try:
            return self._function(*args, **kwargs)
        except BaseException as error:
            strip(error)
            raise


# -- ordinary methods ------------------------------------------------------------------------------


def build_method(name: str, qualname: str, kind: str) -> Any:
    """A method for one whose call gives this kind of result."""
    if kind in DEFERRED:

        def defer(self: Any, /, *args: Any, **kwargs: Any) -> Any:
            function = getattr(read_target(self), name)
            return _defer(self, kind, name, qualname, function, args, kwargs)

        return _Function(defer, kind)
    if kind == "generator":

        def generate(self: Any, /, *args: Any, **kwargs: Any) -> Any:
            function = getattr(read_target(self), name)
            return _intercept(self, name, qualname, function, args, kwargs)

        return _Function(generate, kind)

    def method(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        # As `_intercept`, without its frame: methods that call each other need the stack.
        try:
            target = read_target(self)
            function = getattr(target, name)
            recorder = switch.recorder
            if recorder is None or interception_off.get():
                return call_unrecorded(self, name, function, args, kwargs)
            frame, leased = sys._getframe(1), recorder.leased_calls
            if leased is not None:
                return leased.run(self, target, name, qualname, function, args, kwargs, frame)
            invocation = Invocation(self, name, qualname, function, args, kwargs, frame)
            return run(StrictCall(recorder, invocation).steps())
        except BaseException as error:
            strip(error)
            raise

    return method


def intercept_attribute(proxy: Any, name: str, function: Any) -> Any:
    """A method that the instance or its module has, or one that its type has not as a function."""
    qualname, kind = qualname_of(function), result_kind(function)

    def call(*args: Any, **kwargs: Any) -> Any:
        return _intercept(proxy, name, qualname, function, args, kwargs)

    def defer(*args: Any, **kwargs: Any) -> Any:
        return _defer(proxy, kind, name, qualname, function, args, kwargs)

    if kind not in DEFERRED and is_plain_function(getattr(function, "__func__", function)):
        return functools.wraps(function)(stripped(call))
    method: Any = _Function(defer if kind in DEFERRED else call, kind, function)
    if getattr(function, "__self__", None) is read_target(proxy):
        method.__self__ = proxy
    return functools.update_wrapper(method, function, updated=())


# -- calling the target itself ---------------------------------------------------------------------


def build_call(kind: str) -> Any:
    """`__call__`, for a target whose call gives this kind of result."""
    if kind not in DEFERRED:
        return _call

    def defer(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        target = read_target(self)
        name = _call_name(self, target)
        return _defer(self, kind, name, qualname_of(target), target, args, kwargs)

    return _Function(defer, kind)


def _call(self: Any, /, *args: Any, **kwargs: Any) -> Any:
    # As `_intercept`, without its frame: a function may call itself through its proxy.
    try:
        target = read_target(self)
        recorder = switch.recorder
        if recorder is None or interception_off.get():
            return call_unrecorded(self, "__call__", target, args, kwargs)
        frame, leased = sys._getframe(1), recorder.leased_calls
        if type(target) is types.FunctionType:
            alias, qualname = read_alias(self), target.__qualname__
            name = target.__name__ if alias is None else alias
        else:
            name, qualname = _call_name(self, target), qualname_of(target)  # type: ignore[assignment]
        if leased is not None:
            return leased.run(self, target, name, qualname, target, args, kwargs, frame)
        invocation = Invocation(self, name, qualname, target, args, kwargs, frame)
        return run(StrictCall(recorder, invocation).steps())
    except BaseException as error:
        strip(error)
        raise


def _call_name(proxy: Any, target: Any) -> str:
    """A function is known by its name, any other callable by what is called."""
    alias = read_alias(proxy)
    if alias is not None:
        return str(alias)
    name = getattr(target, "__name__", None)
    is_named = isinstance(target, type) or inspect.isroutine(target)
    return name if isinstance(name, str) and is_named else "__call__"


def await_target(self: Any, /) -> Any:
    """`__await__`: awaiting is the call, and what is awaited its result."""
    target = read_target(self)
    invocation = Invocation(self, "__await__", None, lambda: target, (), {}, None)
    return await_call(invocation).__await__()


# -- special methods -------------------------------------------------------------------------------


def build_special(name: str, qualname: str, unwraps: bool = False) -> Any:
    """A special method. `unwraps`: its arguments may be proxies, and the target's need targets."""

    @stripped
    def method(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        target = read_target(self)
        if unwraps:
            args = tuple(map(target_of, args))
        return _intercept(self, name, qualname, bind_special(target, name), args, kwargs)

    return method


def build_async_special(name: str, qualname: str) -> Any:
    def method(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        function = bind_special(read_target(self), name)
        return await_call(Invocation(self, name, qualname, function, args, kwargs, None))

    return _Function(method, "coroutine")


def build_operator(name: str, qualname: str, operate: operators.Binary) -> Any:
    @stripped
    def method(self: Any, /, *others: Any) -> Any:
        function = functools.partial(operate, read_target(self))
        return _intercept(self, name, qualname, function, tuple(map(target_of, others)), {})

    return method


def build_inplace(name: str, qualname: str, operate: operators.Binary) -> Any:
    @stripped
    def method(self: Any, other: Any, /) -> Any:
        target = read_target(self)
        function = functools.partial(operate, target)
        result = _intercept(self, name, qualname, function, (target_of(other),), {})
        return self if result is target else result

    return method


def build_bytes(qualname: str) -> Any:
    @stripped
    def method(self: Any, /) -> bytes:
        function = functools.partial(bytes, read_target(self))
        result: bytes = _intercept(self, "__bytes__", qualname, function, (), {})
        return result

    return method


def _build_array_ufunc(name: str, qualname: str) -> Any:
    @stripped
    def method(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        args, kwargs = numpy_protocol.unwrap(args), numpy_protocol.unwrap(kwargs)
        return _intercept(self, name, qualname, numpy_protocol.call_ufunc, args, kwargs)

    return method


def _build_array_function(name: str, qualname: str) -> Any:
    @stripped
    def method(self: Any, function: Any, kinds: Any, args: Any, kwargs: Any) -> Any:
        kinds = numpy_protocol.real_types(kinds, read_target(self))
        unwrapped = (numpy_protocol.unwrap(args), numpy_protocol.unwrap(kwargs))
        arguments = (function, kinds, *unwrapped)
        return _intercept(self, name, qualname, numpy_protocol.call_function, arguments, {})

    return method


ARRAY_BUILDERS = {
    "__array_ufunc__": _build_array_ufunc,
    "__array_function__": _build_array_function,
}

hide_module(__name__)
