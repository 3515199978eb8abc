"""Says what a field means, beside its type, and which fields an answer leaves out."""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

from msgspec import UNSET, Meta, UnsetType

T = TypeVar("T")

_NO_NULL = r"^[^\x00]*$"
_VARIABLE_NAME = r"^[^=\x00]+$"
_LABEL = r"^(?!\.{1,2}(?![\s\S]))(?!\s)[^\x00-\x1f\x7f/\\]*[^\x00-\x20\x7f/\\](?![\s\S])"
PATTERN_MEANINGS = {
    _NO_NULL: "it cannot hold a null character",
    _LABEL: "a name has no slash, backslash or control character, no space at its ends, and is not "
    "`.` or `..`",
    _VARIABLE_NAME: "the name of an environment variable is not empty and has no `=` or null",
}
"""What is wrong with a text that does not match a pattern."""
SystemText = Annotated[str, Meta(pattern=_NO_NULL)]
"""Text that is handed to the operating system, where it ends at the first null character."""
VariableName = Annotated[str, Meta(pattern=_VARIABLE_NAME)]
"""The name of an environment variable."""


Label = Annotated[str, Meta(pattern=_LABEL, min_length=1, max_length=200)]
"""A name that somebody chose, which can stand in an address."""


def about(text: str, **constraints: Any) -> Meta:
    """The meaning of a field in one sentence, and what its value has to satisfy."""
    return Meta(description=text, **constraints)


def none_to_unset(value: T | None) -> T | UnsetType:
    """The value of a field that an answer leaves out when there is none."""
    return UNSET if value is None else value
