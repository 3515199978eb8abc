"""Proxies: objects that stand for others and let the server decide about every call.

There is one class of proxies for each type of target (`proxy_class`). It has the methods and
special methods that the type has, and no others, so that `callable`, `iter`, `len`, `await` and the
rest find on a proxy what they would find on the target. All other attributes are those of the
target. Calls return what the target's return; only the target itself comes back as the proxy, and
with `follow=True` other objects as proxies of their own (`following`).
"""

from __future__ import annotations

import copy
import operator
from typing import Any

from holdfast.client.followed_objects import deliver_attribute
from holdfast.client.hidden_frames import hide_module, strip, stripped
from holdfast.client.proxy_base import (
    ProxyBase,
    interception_off,
    is_proxy,
    read_snapshot,
    read_target,
    target_of,
    without_interception,
    write_snapshot,
)
from holdfast.client.proxy_methods import intercept_attribute
from holdfast.client.switch import switch
from holdfast.client.type_members import is_method


class DebugProxy(ProxyBase):
    """A stand-in whose calls the server decides about."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        target = read_target(self)
        try:
            value = getattr(target, name)
        except BaseException as error:
            strip(error)
            raise
        if interception_off.get() or is_proxy(value):
            return value
        if switch.recorder is not None and is_method(target, name, value):
            return intercept_attribute(self, name, value)
        return deliver_attribute(self, name, value)

    @stripped
    def __dir__(self) -> list[str]:
        return dir(read_target(self))

    @stripped
    def __eq__(self, other: object) -> Any:
        if is_proxy(other) or switch.settings.eq == "transparent":
            return read_target(self) == target_of(other)
        return False

    @stripped
    def __ne__(self, other: object) -> Any:
        if is_proxy(other) or switch.settings.eq == "transparent":
            return read_target(self) != target_of(other)
        return True

    @stripped
    def __hash__(self) -> int:
        return hash(read_target(self))

    # A copy or a pickle is the target's: what leaves the application has no proxies in it.

    def __copy__(self) -> Any:
        try:
            return copy.copy(read_target(self))
        except BaseException as error:
            strip(error, through=copy.copy)
            raise

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        try:
            return copy.deepcopy(read_target(self), memo)
        except BaseException as error:
            strip(error, through=copy.deepcopy)
            raise

    def __reduce_ex__(self, protocol: Any) -> Any:
        return operator.getitem, ((read_target(self),), 0)

    def __reduce__(self) -> Any:
        return self.__reduce_ex__(2)

    @property
    def _target(self) -> Any:
        """The target, unless that has an attribute of this name."""
        target = read_target(self)
        return getattr(target, "_target", target)

    @property
    def _cid(self) -> Any:
        """The content id of the target when it was last looked at."""
        target, snapshot = read_target(self), read_snapshot(self)
        cid = getattr(target, "_cid", None)
        if cid is None and snapshot is None and switch.recorder is not None:
            with without_interception():  # it was followed, and not called yet
                snapshot = switch.recorder.snapshots.take(target, lenient=True)
            write_snapshot(self, snapshot)
        return cid if cid is not None or snapshot is None else snapshot.cid


class AsyncDebugProxy(DebugProxy):
    """A stand-in for something with asynchronous methods."""

    __slots__ = ()


hide_module(__name__)
