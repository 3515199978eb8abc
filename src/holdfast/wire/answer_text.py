"""Parts of an answer as lines of text, which several answers of the tools have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import UNSET, UnsetType


def render_values(values: Mapping[str, str] | UnsetType) -> Iterator[str]:
    """A line for each value."""
    if values is not UNSET:
        yield from (f"  {name} = {value}" for name, value in values.items())


def render_outcome(result: str | UnsetType, exception: str | UnsetType) -> Iterator[str]:
    """What something returned or raised, if that is known."""
    for word, value in (("returned", result), ("raised", exception)):
        if value is not UNSET:
            yield f"  {word} {value}"


def render_takes(takes: Mapping[str, str] | UnsetType) -> Iterator[str]:
    """What each action takes."""
    if takes is not UNSET and takes:
        yield "takes " + "; ".join(f"{action}: {fields}" for action, fields in takes.items())


def render_omitted(omitted: Sequence[str] | UnsetType) -> Iterator[str]:
    """What is left out."""
    if omitted is not UNSET:
        yield from (f"left out: {note}" for note in omitted)
