"""Errors as an editor shows them."""

from __future__ import annotations

import re

from holdfast import errors
from holdfast.wire.dap import Body

_HTTP = re.compile(r"\b(GET|POST|PATCH|DELETE) (its )?/")
_FAMILIES = (
    errors.UnsupportedRequest,
    errors.EditorNotReady,
    errors.InvalidInput,
    errors.NotFound,
    errors.WrongState,
    errors.TimedOut,
    errors.Failure,
    errors.Overloaded,
    errors.Refused,
)


def build_error(problem: errors.HoldfastError, *, is_shown: bool) -> Body:
    """The protocol wants a number: there is one for each family of errors."""
    numbered = enumerate(_FAMILIES, 1)
    return {
        "id": next((number for number, family in numbered if isinstance(problem, family)), 0),
        "format": "{text}",
        "variables": {"text": describe(problem.message, problem.hint)},
        "showUser": is_shown,
    }


def describe(message: str, hint: str | None) -> str:
    """What happened, and what to do next, unless that is a request over HTTP."""
    return f"{message}. {hint}" if hint and not _HTTP.search(hint) else message
