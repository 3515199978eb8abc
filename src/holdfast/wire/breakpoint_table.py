"""The answer of `debug_set_breakpoints`: all breakpoints of a session."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from holdfast.wire.list_reduction import list_shorter
from holdfast.wire.plain_text import cut, show_count
from holdfast.wire.tool_answers import ToolAnswer

_SHORT = 80


class ListedBreakpoint(msgspec.Struct, kw_only=True):
    """One breakpoint."""

    id: Annotated[str, Meta(description="Its id, to remove it with.")]
    place: Annotated[str, Meta(description="Where it stops, as it can be written.")]
    verified: Annotated[bool, Meta(description="Whether it can stop the program.")]
    hits: Annotated[int, Meta(description="How often it was hit.")]
    message: Annotated[
        str | UnsetType, Meta(description="Why it cannot stop, or what else is to be known.")
    ] = UNSET
    is_new: Annotated[bool | UnsetType, Meta(description="Whether this request set it.")] = UNSET

    def to_text(self) -> str:
        text = f"{self.id}  {self.place}"
        text += f"  {show_count(self.hits, 'hit')}" if self.hits else ""
        text += "  new" if self.is_new is True else ""
        text += "" if self.verified else "  NOT VERIFIED"
        return text if self.message is UNSET else f"{text}: {self.message}"


class BreakpointTable(ToolAnswer, kw_only=True):
    """The breakpoints of a session after a change."""

    status: Annotated[str, Meta(description="Where the program is: paused, running…")]
    session_id: Annotated[str, Meta(description="The session.")]
    breakpoints: Annotated[list[ListedBreakpoint], Meta(description="All breakpoints.")]
    exceptions: Annotated[str, Meta(description="Which exceptions stop it: uncaught, raised, none")]
    removed: Annotated[int | UnsetType, Meta(description="How many were removed.")] = UNSET
    message: Annotated[str | UnsetType, Meta(description="What else is to be said.")] = UNSET
    omitted: Annotated[
        str | UnsetType, Meta(description="What is left out, and how to see it.")
    ] = UNSET

    def to_text(self) -> str:
        return "\n".join(self._list_lines())

    def _list_lines(self) -> Iterator[str]:
        yield f"{self.status} · {self.session_id}"
        if self.message is not UNSET:
            yield self.message
        if self.removed is not UNSET:
            yield f"removed: {self.removed}"
        for point in self.breakpoints:
            yield point.to_text()
        if not self.breakpoints and self.omitted is UNSET:
            yield "no breakpoints"
        yield f"exceptions: {self.exceptions}"
        if self.omitted is not UNSET:
            yield f"omitted: {self.omitted}"

    def list_reductions(self) -> Iterator[BreakpointTable]:
        """Those that this request set come first, and go last."""
        ordered = sorted(self.breakpoints, key=lambda point: point.is_new is not True)
        short = [_shorten(point) for point in ordered]
        yield msgspec.structs.replace(self, breakpoints=short)
        for points, missing in list_shorter(short):
            omitted = f"{missing} breakpoints: debug_set_breakpoints with a larger budget_tokens"
            yield msgspec.structs.replace(self, breakpoints=points, omitted=omitted)


def _shorten(point: ListedBreakpoint) -> ListedBreakpoint:
    message = point.message
    return msgspec.structs.replace(
        point,
        place=cut(point.place, _SHORT),
        message=cut(message, _SHORT) if isinstance(message, str) else message,
    )
