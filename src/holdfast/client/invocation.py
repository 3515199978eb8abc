"""One intercepted call: what is called, through what, with what, and from where."""

from __future__ import annotations

import asyncio
import copy
import types
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from holdfast.client.followed_objects import deliver, unwrap_arguments
from holdfast.client.proxy_base import (
    read_alias,
    read_options,
    read_snapshot,
    read_target,
    write_snapshot,
)
from holdfast.client.snapshots import Snapshot
from holdfast.client.value_preview import clean
from holdfast.model.call import call_id

# The call that is running: the parent of those made in it. A strict call is known by its id, a
# leased one by its number.
current_call: ContextVar[str | int | None] = ContextVar("holdfast_call", default=None)


class Invocation:
    """What is called, through what, with what, and from where. As a step, it makes the call."""

    __slots__ = (
        *(
            "alias",
            "args",
            "call_id",
            "capture_target",
            "frame",
            "function",
            "kind",
            "kwargs",
            "name",
        ),
        *("on_unpicklable", "proxy", "qualname", "snapshot", "stack", "target"),
    )

    call_id: str | int  # set when the call may run

    def __init__(
        self,
        proxy: Any,
        name: str,
        qualname: str | None,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        frame: types.FrameType | None,
        alias: str | None = None,
        snapshot: Snapshot | None = None,
        stack: str | None = None,
    ) -> None:
        self.proxy = proxy  # None: the function was named at the call (`debug_call`)
        self.name = name  # what it is recorded under
        self.qualname = qualname
        self.function = function
        self.args = args
        self.kwargs = kwargs
        self.frame = frame  # the caller's
        if proxy is None:
            self.kind, self.target, self.alias = "inline", function, alias
            self.on_unpicklable: str | None = None  # None: as the settings say
            self.capture_target: bool | str | None = None
        else:
            self.kind, self.target, self.alias = "proxy", read_target(proxy), read_alias(proxy)
            options = read_options(proxy)
            self.on_unpicklable = options.on_unpicklable
            self.capture_target = options.capture_target
            if options.following is not None:
                self.args, self.kwargs = unwrap_arguments(options.following, args, kwargs)
        self.snapshot = snapshot  # of the target, where no proxy has one
        self.stack = stack  # where a coroutine was made, as JSON; it may be awaited elsewhere

    def call(self) -> Any:
        return self.function(*self.args, **self.kwargs)

    def deliver(self, value: Any) -> Any:
        """What the caller gets when the call returned `value`."""
        return value if self.proxy is None else deliver(self.proxy, self.name, value)

    def change(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Invocation:
        """The same call of another function, or with other arguments."""
        changed = copy.copy(self)
        changed.function, changed.args, changed.kwargs = function, args, kwargs
        return changed

    @property
    def lenient(self) -> bool | None:
        """Whether the call goes on with a value that cannot be stored; None: as configured."""
        choice = self.on_unpicklable
        return None if choice is None else choice == "placeholder"

    @property
    def full_name(self) -> str:
        return self.qualname or self.name

    def last_snapshot(self) -> Snapshot | None:
        """The target when it was last looked at."""
        return self.snapshot if self.proxy is None else read_snapshot(self.proxy)

    def remember(self, snapshot: Snapshot) -> None:
        if self.proxy is not None:
            write_snapshot(self.proxy, snapshot)

    def find_name(self, name: str) -> Any:
        """The value of a name where the call was made; None if it has none."""
        frame = self.frame
        return None if frame is None else frame.f_locals.get(name, frame.f_globals.get(name))


def current_call_id() -> str | None:
    current = current_call.get()
    return call_id(current) if isinstance(current, int) else current


def current_task_name() -> str | None:
    if asyncio._get_running_loop() is None:
        return None
    task = asyncio.current_task()
    return None if task is None else clean(task.get_name())
