"""The base class of all proxies, and the switch that keeps them out of our own work.

It is apart from `proxy` so that snapshots and previews, which proxies need, can look through them.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

# A context variable, so that it also holds in the helper thread that runs a repr.
interception_off: ContextVar[bool] = ContextVar("holdfast_interception_off", default=False)


class ProxyBase:
    """An object that stands for another."""

    __slots__ = (
        *("__weakref__", "_holdfast_alias", "_holdfast_options", "_holdfast_snapshot"),
        "_holdfast_target",
    )


def _slot(name: str) -> Any:
    return ProxyBase.__dict__[f"_holdfast_{name}"]


# The slots, accessed past any `__getattr__` and `__class__` of the proxy.
read_target: Any = _slot("target").__get__
write_target: Any = _slot("target").__set__
read_alias: Any = _slot("alias").__get__
write_alias: Any = _slot("alias").__set__
read_options: Any = _slot("options").__get__
write_options: Any = _slot("options").__set__
read_snapshot: Any = _slot("snapshot").__get__  # of the target, when it was last looked at
write_snapshot: Any = _slot("snapshot").__set__


def is_proxy(value: Any) -> bool:
    return issubclass(type(value), ProxyBase)


def target_of(value: Any) -> Any:
    """The target of a proxy; any other value itself."""
    return read_target(value) if issubclass(type(value), ProxyBase) else value


class without_interception:  # noqa: N801 - read as a word: `with without_interception():`
    """Intercepts nothing while it lasts: a value's repr may use a proxy and is not held for it."""

    __slots__ = ("_token",)

    def __enter__(self) -> None:
        self._token = interception_off.set(True)

    def __exit__(self, *problem: object) -> None:
        interception_off.reset(self._token)
