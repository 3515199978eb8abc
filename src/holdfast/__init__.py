"""Holdfast: one debugger for Python programs, intercepted calls and agent loops.

Importing this package must stay cheap for an application: nothing but the standard library. What
an application calls is loaded when it is first used, and needs only `dill` besides.
"""

from __future__ import annotations

from holdfast.model.version import VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.client.debug_api import (
        DebugInfo,
        async_debug_call,
        configure_debug,
        debug_call,
        with_debug,
    )
    from holdfast.client.exceptions import (
        DebugCIDMismatchError,
        DebugCIDNotFoundError,
        DebugError,
        DebugProtocolError,
        DebugSerializationError,
        DebugServerError,
        DebugTimeoutError,
    )
    from holdfast.client.proxy import AsyncDebugProxy, DebugProxy

__version__ = VERSION

_HOMES = {
    "AsyncDebugProxy": "proxy",
    "DebugCIDMismatchError": "exceptions",
    "DebugCIDNotFoundError": "exceptions",
    "DebugError": "exceptions",
    "DebugInfo": "debug_api",
    "DebugProtocolError": "exceptions",
    "DebugProxy": "proxy",
    "DebugSerializationError": "exceptions",
    "DebugServerError": "exceptions",
    "DebugTimeoutError": "exceptions",
    "async_debug_call": "debug_api",
    "configure_debug": "debug_api",
    "debug_call": "debug_api",
    "with_debug": "debug_api",
}

__all__ = [
    "AsyncDebugProxy",
    "DebugCIDMismatchError",
    "DebugCIDNotFoundError",
    "DebugError",
    "DebugInfo",
    "DebugProtocolError",
    "DebugProxy",
    "DebugSerializationError",
    "DebugServerError",
    "DebugTimeoutError",
    "async_debug_call",
    "configure_debug",
    "debug_call",
    "with_debug",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    found: object = getattr(importlib.import_module(f"holdfast.client.{_HOMES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
