"""The functions that an application calls: `with_debug`, `debug_call` and how they are set up."""

from __future__ import annotations

import atexit
import os
import sys
import threading
import types
from collections.abc import Callable
from typing import Any

from holdfast.client import discovery, storage_refusals
from holdfast.client.call_runner import intercept, is_awaitable, run, run_async
from holdfast.client.client_settings import change_settings
from holdfast.client.exceptions import DebugSerializationError
from holdfast.client.hidden_frames import hide_module, strip
from holdfast.client.http_client import require_loopback
from holdfast.client.invocation import Invocation
from holdfast.client.leased_call import LeasedCalls
from holdfast.client.proxy_base import (
    ProxyBase,
    interception_off,
    is_proxy,
    read_alias,
    read_options,
    target_of,
    without_interception,
)
from holdfast.client.proxy_class import wrap
from holdfast.client.proxy_methods import capture_stack, start_later
from holdfast.client.proxy_options import NO_OPTIONS, ProxyOptions, build_options
from holdfast.client.recorder import Recorder
from holdfast.client.snapshots import Snapshot
from holdfast.client.switch import switch
from holdfast.client.type_members import (
    is_async_generator_function,
    is_coroutine_function,
    qualname_of,
)
from holdfast.client.value_reductions import mark_lazy

_lock = threading.RLock()


class DebugInfo:
    """Whether debugging is on, where the server is, and whether it answers."""

    def __init__(self, recorder: Recorder | None) -> None:
        self._recorder = recorder

    def is_enabled(self) -> bool:
        return self._recorder is not None and self._recorder is switch.recorder

    def server_url(self) -> str | None:
        return self._recorder.connection.url if self._recorder and self.is_enabled() else None

    def session_id(self) -> str | None:
        return self._recorder.session_id if self._recorder and self.is_enabled() else None

    def connection_status(self) -> str:
        """`connected`, `disconnected`, `error` or `disabled`."""
        return self._recorder.status if self._recorder and self.is_enabled() else "disabled"

    def __repr__(self) -> str:
        return f"<DebugInfo {self.connection_status()} {self.server_url() or ''}".rstrip() + ">"


def configure_debug(**options: Any) -> None:
    """Set options. They take effect at once, for proxies that exist too, and last.

    A wrong one is a ValueError, and so is another `server_url` or `mode` while debugging is on:
    then nothing is changed.

    server_url: where the server is, on this machine; None for the environment or the usual place
    request_timeout: seconds for the server to answer
    eq: "strict" (a proxy equals no other object) or "transparent" (what its target equals)
    on_unpicklable: "raise", or "placeholder" to go on with a value that cannot be stored; None for
        HOLDFAST_ON_UNPICKLABLE, else "raise"
    mode: "strict" (the server is asked before every call), or "leased" (only where a breakpoint
        could match; everything is recorded all the same, a few milliseconds later)
    max_value_bytes: a value that takes more is recorded as too large
    capture_locals: whether the variables of every frame are recorded with each call
    capture_target: True records the object that is called, before and after each call if comparing
        it is quick, else now and then (the record says how old it is); "always" whatever it takes;
        False not at all
    """
    with _lock:
        settings = change_settings(switch.settings, options)
        if switch.recorder is not None:
            switch.recorder.change_settings(settings)
        switch.settings = settings


def with_debug(
    what: Any,
    *,
    name: str | None = None,
    follow: bool = False,
    on_unpicklable: str | None = None,
    capture_target: bool | str | None = None,
) -> Any:
    """Turn debugging "ON" or "OFF", or wrap an object: alone, or as `("name", object)`.

    name: what its calls are recorded under; the first argument is then the object, even a string
    follow: whether what its methods return and its attributes hold is wrapped as well
    on_unpicklable, capture_target: as in `configure_debug`, for the calls of this object
    """
    if type(what) is str and name is None:
        if follow or on_unpicklable is not None or capture_target is not None:
            raise TypeError(f"with_debug({what!r}) takes no options; they are those of an object")
        return _switch(what)
    alias, target = what if name is None and _is_named(what) else (_check_name(name), what)
    base = read_options(target) if is_proxy(target) else NO_OPTIONS
    options = build_options(follow, on_unpicklable, capture_target, base, wrap)
    recorder = switch.recorder
    if recorder is None:
        return target
    if is_proxy(target):
        if alias is None and options is base:
            return target
        alias, target = alias or read_alias(target), target_of(target)
    with without_interception():
        snapshot = _take_target(recorder, target, options)
        if callable(target):
            recorder.register(alias or name_of(target), target, alias, snapshot.cid)
    proxy = wrap(target, alias, snapshot, options)
    if options.following is not None:
        options.following.add(proxy)
    return proxy


def debug_call(name_or_function: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Call a function here and now as through a proxy: `debug_call(f, x)`, `debug_call("a", f, x)`.

    An asynchronous function gives its awaitable, and the call ends when that does. An asynchronous
    generator is called when its first item is awaited.
    """
    try:
        alias, function, args = _parse_arguments(name_or_function, args)
        recorder = switch.recorder
        if recorder is None or interception_off.get():
            return function(*args, **kwargs)
        frame = sys._getframe(1)
        invocation = _build_invocation(recorder, alias, function, args, kwargs, frame)
        if is_coroutine_function(invocation.function):
            invocation.stack = capture_stack(recorder, frame)
            return start_later("coroutine", invocation)
        if is_async_generator_function(invocation.function):
            invocation.stack = capture_stack(recorder, frame)
            return start_later("asyncgen", invocation)
        return run(intercept(recorder, invocation), awaits=True)
    except BaseException as error:
        strip(error)
        raise


async def async_debug_call(name_or_function: Any, /, *args: Any, **kwargs: Any) -> Any:
    """As `debug_call`, awaited. While it is held, everything else in its event loop goes on."""
    try:
        alias, function, args = _parse_arguments(name_or_function, args)
        recorder = switch.recorder
        if recorder is None or interception_off.get():
            result = function(*args, **kwargs)
            return await result if is_awaitable(result) else result
        invocation = _build_invocation(recorder, alias, function, args, kwargs, sys._getframe(1))
        return await run_async(intercept(recorder, invocation))
    except BaseException as error:
        strip(error)
        raise


def name_of(function: Any) -> str:
    """The name that a callable is registered and recorded under."""
    name = getattr(function, "__name__", None)
    return name if isinstance(name, str) and name else f"{type(function).__qualname__}.__call__"


def _check_name(name: Any) -> str | None:
    if name is not None and (not isinstance(name, str) or not name):
        raise ValueError(f"name must be a text that is not empty, not {name!r}")
    return name


def _is_named(what: Any) -> bool:
    return type(what) is tuple and len(what) == 2 and type(what[0]) is str


def _parse_arguments(
    first: Any, args: tuple[Any, ...]
) -> tuple[str | None, Callable[..., Any], tuple[Any, ...]]:
    if issubclass(type(first), str) and not is_proxy(first):
        if not args or not callable(args[0]):
            raise TypeError("debug_call with alias requires a callable as second argument")
        return first, args[0], args[1:]
    if not callable(first):
        raise TypeError("debug_call expects a callable or (alias_str, callable, ...)")
    return None, first, args


def _build_invocation(
    recorder: Recorder,
    alias: str | None,
    function: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    frame: types.FrameType,
) -> Invocation:
    options = read_options(function) if is_proxy(function) else NO_OPTIONS
    function = target_of(function)
    name = alias or name_of(function)
    snapshot = None
    if not recorder.functions.has(name, function):
        with without_interception():
            snapshot = _take_target(recorder, function, options)
            recorder.register(name, function, alias, snapshot.cid)
    qualname = qualname_of(function)
    invocation = Invocation(None, name, qualname, function, args, kwargs, frame, alias, snapshot)
    invocation.on_unpicklable = options.on_unpicklable
    return invocation


def _take_target(recorder: Recorder, target: Any, options: ProxyOptions) -> Snapshot:
    try:
        return recorder.targets.take_first(target, options.capture_target, options.lenient)
    except DebugSerializationError as refused:
        raise storage_refusals.name_wrapped(refused) from refused.cause


def _switch(mode: str) -> DebugInfo:
    match mode.upper():
        case "ON":
            return _turn_on()
        case "OFF":
            return _turn_off()
    raise ValueError(
        f'with_debug takes "ON", "OFF" or an object, not {mode!r}; '
        'a string is wrapped with a name, as with_debug(("name", "text"))'
    )


def _turn_on() -> DebugInfo:
    if os.environ.get("HOLDFAST_CALLS", "").lower() == "off":
        switch.was_refused = True
        return _turn_off()
    with _lock:
        url = discovery.server_url(switch.settings.server_url)
        require_loopback(url)  # what the environment names must be on this machine, too
        recorder = switch.recorder
        if recorder is not None:
            if recorder.connection.url == url and recorder.settings == switch.settings:
                return DebugInfo(recorder)
            _turn_off()
        recorder = Recorder(url, switch.settings, LeasedCalls)
        with without_interception():
            recorder.open()
        switch.recorder = recorder
        return DebugInfo(recorder)


def _turn_off() -> DebugInfo:
    with _lock:
        recorder, switch.recorder = switch.recorder, None
        if recorder is not None:
            with without_interception():
                recorder.end()
        return DebugInfo(None)


atexit.register(_turn_off)
hide_module(__name__)

__all__ = [
    "DebugInfo",
    "ProxyBase",
    "async_debug_call",
    "configure_debug",
    "debug_call",
    "mark_lazy",
    "with_debug",
]
