"""How a call ended."""

from __future__ import annotations

from typing import Any

from holdfast.client.value_preview import clean

_MAX_MESSAGE = 10_000  # characters


class Outcome:
    """How a call ended: with a value, or with an exception."""

    __slots__ = ("error", "nanoseconds", "value")

    def __init__(
        self, value: Any = None, error: BaseException | None = None, nanoseconds: int | None = None
    ) -> None:
        self.value = value
        self.error = error
        self.nanoseconds = nanoseconds

    def deliver(self) -> Any:
        """Return the value, or raise the exception."""
        if self.error is None:
            return self.value
        error, self.error = self.error, None
        try:
            raise error
        finally:
            del error  # its traceback holds this frame


def exception_name(error: BaseException) -> str:
    """The name as the `raise` action takes it: bare for a builtin, dotted for others."""
    cls = type(error)
    name = clean(cls.__qualname__)
    return name if cls.__module__ == "builtins" else f"{clean(str(cls.__module__))}.{name}"


def exception_message(error: BaseException) -> str:
    try:
        return clean(str(error))[:_MAX_MESSAGE]
    except Exception:  # the exception's own __str__ fails
        return ""
