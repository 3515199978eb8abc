"""How an error is answered over HTTP: one body, and one status for each family."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any

from msgspec import Struct

from holdfast.errors import (
    BodyTooLarge,
    CidNotFound,
    Failure,
    HeadTooLarge,
    HoldfastError,
    InvalidInput,
    NotAuthorized,
    NotFound,
    NotJson,
    NotStored,
    Overloaded,
    Refused,
    RequestTooSlow,
    TimedOut,
    WrongState,
)
from holdfast.wire.described import about

STATUS: Mapping[type[HoldfastError], int] = MappingProxyType(
    {
        HoldfastError: 500,
        InvalidInput: 400,
        NotFound: 404,
        WrongState: 409,
        TimedOut: 504,
        Failure: 500,
        NotStored: 507,
        Overloaded: 503,
        Refused: 403,
        NotAuthorized: 401,
        HeadTooLarge: 431,
        BodyTooLarge: 413,
        RequestTooSlow: 408,
        NotJson: 415,
    }
)


def status_of(error: HoldfastError) -> int:
    """The status of the nearest family: a new error needs no entry of its own."""
    return next(STATUS[family] for family in type(error).__mro__ if family in STATUS)


class ErrorDescription(Struct):
    """What went wrong."""

    code: Annotated[str, about("What it is, in upper case with its subject.")]
    message: Annotated[str, about("What happened.")]
    hint: Annotated[str | None, about("What to do next.")]
    details: Annotated[
        dict[str, Any],
        about("What it happened to: `field`, `state` and `possible`, ids, `reference`…"),
    ]


class ErrorAnswer(Struct):
    """Any error, of every status from 400 up."""

    error: Annotated[ErrorDescription, about("What went wrong, and what to do next.")]
    error_code: Annotated[str, about("The short name of the error, in lower case.")]


class FlatErrorAnswer(Struct):
    """An error as applications that report calls know it; its details stand beside these."""

    error: Annotated[str, about("The short name of the error.")]
    message: Annotated[str, about("What happened.")]


def error_body(error: HoldfastError, reference: str | None = None) -> ErrorAnswer:
    """The body of an error answer. `reference` is the id under which the server logged it."""
    details = dict(error.details)
    if reference is not None:
        details["reference"] = reference
    return ErrorAnswer(
        ErrorDescription(error.code, error.message, error.hint, details), error.short
    )


def flat_error_body(error: HoldfastError) -> dict[str, Any]:
    """The error as the first clients know it: `error` is its name, details stand beside it."""
    details = dict(error.details)
    if not isinstance(error, CidNotFound):
        details = {"error_code": error.short, "hint": error.hint, **details}
    return {**details, "error": error.short, "message": error.message}
