"""The table of requests: which function handles which command, with what arguments, and when."""

from __future__ import annotations

import typing
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from holdfast import errors
from holdfast.wire.dap import Body

if TYPE_CHECKING:
    from holdfast.server.dap.dap_client import EditorClient

CAUSE: ContextVar[EditorClient | None] = ContextVar("cause", default=None)
"""The editor whose request the current task handles."""
Handle = Callable[["EditorClient", Any], Awaitable[Body | None]]
Parsed = TypeVar("Parsed")
Handler = TypeVar("Handler", bound=Callable[..., Awaitable[Body | None]])


class Order(Enum):
    """When a request is handled."""

    IN_TURN = "after those before it; what happens meanwhile is told after its answer"
    BESIDE = "after those before it, but nothing waits for it: it may run the program's code"
    AT_ONCE = "whatever else is being handled"


@dataclass(frozen=True)
class RequestKind:
    handle: Handle
    arguments: type[Any]
    order: Order
    needs_session: bool

    def parse(self, arguments: object) -> Any:
        return parse_arguments({} if arguments is None else arguments, self.arguments)


def parse_arguments(arguments: object, kind: type[Parsed]) -> Parsed:
    """The arguments of a request, with their types."""
    try:
        return msgspec.convert(arguments, kind)
    except (msgspec.ValidationError, UnicodeError) as problem:
        raise errors.InvalidInput(f"arguments: {problem}", field="arguments") from None


class RequestList:
    """The requests of one subject."""

    def __init__(self) -> None:
        self.kinds: dict[str, RequestKind] = {}

    def on(
        self, command: str, order: Order = Order.IN_TURN, *, needs_session: bool = True
    ) -> Callable[[Handler], Handler]:
        def add(handle: Handler) -> Handler:
            hints = typing.get_type_hints(handle, localns={"EditorClient": Any})
            self.kinds[command] = RequestKind(handle, hints["arguments"], order, needs_session)
            return handle

        return add
