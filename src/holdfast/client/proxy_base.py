"""What every proxy is at bottom, and the switch that keeps proxies out of our own work.

This is apart from `proxy` so that snapshots and previews, which proxies need, can see through them.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

# A context variable, because it has to hold in the helper thread that runs a repr, too.
interception_off: ContextVar[bool] = ContextVar("holdfast_interception_off", default=False)


class ProxyBase:
    """An object standing for another."""

    __slots__ = ("__weakref__", "_holdfast_alias", "_holdfast_seen", "_holdfast_target")


_target: Any = ProxyBase.__dict__["_holdfast_target"]


def is_proxy(value: Any) -> bool:
    return issubclass(type(value), ProxyBase)


def target_of(value: Any) -> Any:
    """The object itself, whether a proxy stands for it or not."""
    return _target.__get__(value) if issubclass(type(value), ProxyBase) else value


class without_interception:  # noqa: N801 - read as a word: `with without_interception():`
    """Within this nothing is intercepted: a value's repr may use a proxy and is not held for it."""

    __slots__ = ("_before",)

    def __enter__(self) -> None:
        self._before = interception_off.set(True)

    def __exit__(self, *problem: object) -> None:
        interception_off.reset(self._before)
