"""Says what a field means, beside its type: schemas and documents are made from these."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

_NO_NULL = r"^[^\x00]*$"
_VARIABLE_NAME = r"^[^=\x00]+$"
PATTERN_MEANINGS = {
    _NO_NULL: "it cannot hold a null character",
    _VARIABLE_NAME: "the name of an environment variable is not empty and has no `=` or null",
}
"""What is wrong with a text that does not match a pattern."""
SystemText = Annotated[str, Meta(pattern=_NO_NULL)]
"""Text that is handed to the operating system, where it ends at the first null character."""
VariableName = Annotated[str, Meta(pattern=_VARIABLE_NAME)]
"""The name of an environment variable."""


def about(text: str, **constraints: Any) -> Meta:
    """The meaning of a field in one sentence, and what its value has to satisfy."""
    return Meta(description=text, **constraints)
