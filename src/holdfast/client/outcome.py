"""How a call ended."""

from __future__ import annotations

from typing import Any

from holdfast.client.hidden_frames import hide_module
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
        self.nanoseconds = nanoseconds  # None: the call was not made, somebody decided

    def deliver(self) -> Any:
        """Return the value, or raise the exception."""
        if self.error is None:
            return self.value
        error, self.error = self.error, None
        context = error.__context__
        try:
            raise error
        except BaseException:
            # `raise` has made what the caller is handling the context. That is right for an
            # exception that was decided; one that the function raised has its own.
            if self.nanoseconds is not None:
                error.__context__ = context
            raise
        finally:
            del error, context  # the traceback holds this frame


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


hide_module(__name__)
