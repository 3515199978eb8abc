"""How an error is said over HTTP: one body, and one status for each family."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from holdfast.errors import (
    BodyTooLarge,
    Failure,
    HeadTooLarge,
    HoldfastError,
    InvalidInput,
    NotAuthorized,
    NotFound,
    NotJson,
    NotStored,
    Refused,
    TimedOut,
    WrongState,
)

STATUS: Mapping[type[HoldfastError], int] = MappingProxyType(
    {
        HoldfastError: 500,
        InvalidInput: 400,
        NotFound: 404,
        WrongState: 409,
        TimedOut: 504,
        Failure: 500,
        NotStored: 507,
        Refused: 403,
        NotAuthorized: 401,
        HeadTooLarge: 431,
        BodyTooLarge: 413,
        NotJson: 415,
    }
)


def status_of(error: HoldfastError) -> int:
    """The status of the nearest family: a new error needs no entry of its own."""
    return next(STATUS[family] for family in type(error).__mro__ if family in STATUS)


def error_body(error: HoldfastError, reference: str | None = None) -> dict[str, Any]:
    """The body every error answer has. `reference` is the id under which the server logged it."""
    details = dict(error.details)
    if reference is not None:
        details["reference"] = reference
    return {
        "error": {
            "code": error.code,
            "message": error.message,
            "hint": error.hint,
            "details": details,
        },
        "error_code": error.short,
    }
