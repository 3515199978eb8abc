"""Holdfast: one debugger for Python programs, intercepted calls and agent loops.

Importing this package loads nothing but the standard library. The names below are loaded when they
are first used, and then need only `dill` besides.
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
        mark_lazy,
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
    "mark_lazy",
    "with_debug",
]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    homes = {"Error": "exceptions", "Proxy": "proxy"}  # by the last five letters of the name
    home = homes.get(name[-5:], "debug_api")
    value: object = getattr(importlib.import_module(f"holdfast.client.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
