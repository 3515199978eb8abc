"""Builds the exception of a `raise` decision."""

from __future__ import annotations

import builtins
import importlib
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from holdfast.client.exceptions import DecisionRefused
from holdfast.client.invocation import Invocation
from holdfast.client.value_preview import clean
from holdfast.wire.unknown_names import find_nearest

Built = tuple[BaseException, str | None]
"""An exception, and a sentence about how it differs from one that the program makes."""


def find_exception_class(name: str, invocation: Invocation) -> type[BaseException]:
    """A builtin, a dotted path, or a name that is known where the call was made."""
    cls = _import_dotted(name) if "." in name else getattr(builtins, name, None)
    if cls is None:
        cls = invocation.find_name(name)
    if isinstance(cls, type) and issubclass(cls, BaseException):
        return cls
    nearest = find_nearest(name.rpartition(".")[2], _list_names(invocation))
    meant = f"; did you mean {nearest}?" if nearest else ""
    raise DecisionRefused(
        f"there is no exception {name!r} in the application{meant}",
        field="exception_type",
        hint="A builtin's name, a dotted path, or a name that is known where the call is made.",
        choices=[nearest] if nearest else [],
    )


def _import_dotted(path: str) -> Any:
    parts = path.split(".")
    for at in range(len(parts) - 1, 0, -1):
        module = ".".join(parts[:at])
        try:
            value: Any = sys.modules.get(module) or importlib.import_module(module)
        except Exception:  # no such module, or one that fails to load
            continue
        for part in parts[at:]:
            value = getattr(value, part, None)
        return value
    return None


def _list_names(invocation: Invocation) -> list[str]:
    """The exceptions that can be named without a module."""
    known = dict(vars(builtins))
    if invocation.frame is not None:
        known.update(invocation.frame.f_globals)
    return [
        name
        for name, value in known.items()
        if isinstance(value, type) and issubclass(value, BaseException)
    ]


def build_exception(
    cls: type[BaseException],
    message: str,
    args: Sequence[Any] | None,
    kwargs: Mapping[str, Any] | None,
) -> Built:
    """Of the arguments if there are any, otherwise of the message."""
    if args is not None or kwargs is not None:
        return _call_constructor(cls, args or (), kwargs or {}), None
    try:
        return (cls(message) if message else cls()), None
    except Exception as problem:  # the constructor wants more than a message
        why = f"{type(problem).__name__}: {problem}"
    return _build_without_arguments(cls, message, clean(why))


def _call_constructor(
    cls: type[BaseException], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> BaseException:
    try:
        error = cls(*args, **kwargs)
    except Exception as problem:  # the application's constructor may raise anything
        raise DecisionRefused(
            f"{cls.__name__} cannot be made of these arguments: "
            f"{type(problem).__name__}: {clean(str(problem))}",
            field="exception_args",
            hint=_describe_constructor(cls),
        ) from None
    if isinstance(error, BaseException):
        return error
    raise DecisionRefused(f"{cls.__name__} makes a {type(error).__name__}, which is no exception")


def _build_without_arguments(cls: type[BaseException], message: str, why: str) -> Built:
    """An exception whose constructor needs more than the message that is known."""
    takes = _describe_constructor(cls)
    try:
        special = _build_special(cls, message)
        if special is not None:
            return special
        error = cls.__new__(cls)
        error.args = (message,)
        str(error)
    except Exception as problem:  # the application's own methods may raise anything
        raise DecisionRefused(
            f"{cls.__name__} cannot be made from a message alone ({why}), nor without its "
            f"constructor ({type(problem).__name__}: {clean(str(problem))})",
            field="exception_args",
            hint=f"Give `exception_args` and `exception_kwargs`. {takes}".rstrip(),
        ) from None
    note = (
        f"The constructor of {cls.__name__} did not run, because it needs more than a message "
        f"({why}). The attributes that it sets are missing. Give `exception_args` and "
        f"`exception_kwargs` to run it. {takes}"
    )
    return error, note.rstrip()


def _describe_constructor(cls: type[BaseException]) -> str:
    try:
        return f"It takes {clean(str(inspect.signature(cls)))}."
    except Exception:  # builtins have no signature
        return ""


# -- exceptions that even `__new__` makes only of more than a message ------------------------------


def _build_special(cls: type[BaseException], message: str) -> Built | None:
    builder = _SPECIAL.get(cls)
    if builder is not None:
        note = f"The {cls.__name__} is about an empty text; `exception_args` can give another."
        return builder(message), note
    core = sys.modules.get("pydantic_core")
    if core is not None and cls is core.ValidationError:
        problem = core.PydanticCustomError("decided", "{message}", {"message": message})
        error = {"type": problem, "loc": (), "input": None}
        note = "The ValidationError has one error, which names no field."
        validation_error: Any = cls
        return validation_error.from_exception_data("call", [error]), note
    return None


_SPECIAL: dict[type[BaseException], Callable[[str], BaseException]] = {
    UnicodeDecodeError: lambda message: UnicodeDecodeError("utf-8", b"", 0, 0, message),
    UnicodeEncodeError: lambda message: UnicodeEncodeError("utf-8", "", 0, 0, message),
    UnicodeTranslateError: lambda message: UnicodeTranslateError("", 0, 0, message),
}
