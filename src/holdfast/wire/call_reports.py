"""Recorded calls as the tool `calls_search` shows them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from holdfast.wire.answer_room import (
    LADDER,
    NAMES,
    Room,
    change_set,
    fit_lines,
    fit_names,
    fit_value,
    fit_values,
    shorten,
)
from holdfast.wire.answer_text import render_omitted, render_values
from holdfast.wire.tool_answers import ToolAnswer

_SHOWN_FUNCTIONS = 3


class ReportedCall(msgspec.Struct, kw_only=True):
    """A recorded call."""

    call_id: Annotated[str, Meta(description="The id of the call.")]
    function: Annotated[str, Meta(description="The function, and the object's alias.")]
    arguments: Annotated[
        dict[str, str] | UnsetType, Meta(description="What was passed, by parameter, as text.")
    ] = UNSET
    result: Annotated[str | UnsetType, Meta(description="What it returned.")] = UNSET
    exception: Annotated[str | UnsetType, Meta(description="What it raised.")] = UNSET
    status: Annotated[
        str | UnsetType, Meta(description="running or lost, if it has not ended.")
    ] = UNSET
    ms: Annotated[float | UnsetType, Meta(description="How long it took.")] = UNSET
    decided: Annotated[str | UnsetType, Meta(description="What somebody decided about it.")] = UNSET
    depth: Annotated[
        int | UnsetType, Meta(description="In a tree: how many calls it was made within.")
    ] = UNSET

    def fit(self, room: Room) -> ReportedCall:
        """It with as much of everything as there is room for."""
        return msgspec.structs.replace(
            self,
            function=shorten(self.function, room.names),
            arguments=UNSET
            if room.chars == NAMES
            else change_set(self.arguments, lambda values: fit_values(values, room)),
            result=change_set(self.result, lambda value: fit_value(value, room)),
            exception=change_set(self.exception, lambda value: fit_value(value, room)),
            decided=change_set(self.decided, lambda text: shorten(text, room.names)),
        )

    def render(self) -> str:
        """It on one line."""
        given = {} if self.arguments is UNSET else self.arguments
        values = ", ".join(f"{name}={value}" for name, value in given.items())
        text = f"{self.call_id} {'  ' * (self.depth or 0)}{self.function}({values})"
        if self.result is not UNSET:
            text += f" → {self.result}"
        if self.exception is not UNSET:
            text += f" raised {self.exception}"
        if self.status is not UNSET:
            text += f" ({self.status})"
        if self.ms is not UNSET:
            text += f" {self.ms:g} ms"
        return text + (f" [{self.decided}]" if self.decided is not UNSET else "")


class CallReport(ToolAnswer, kw_only=True):
    """Recorded calls, newest first; or one call with all that is known of it."""

    calls: Annotated[
        list[ReportedCall],
        Meta(description="The calls, newest first; of a tree oldest first, with their depth."),
    ]
    total: Annotated[int, Meta(description="How many were found.")]
    looked_at: Annotated[
        int | UnsetType, Meta(description="How many calls were read to find them.")
    ] = UNSET
    older: Annotated[
        str | UnsetType, Meta(description="There are older ones: `before` for the next page.")
    ] = UNSET
    session_id: Annotated[str | UnsetType, Meta(description="One call: its session.")] = UNSET
    at: Annotated[str | UnsetType, Meta(description="One call: the line that made it.")] = UNSET
    signature: Annotated[str | UnsetType, Meta(description="One call: the signature.")] = UNSET
    within: Annotated[
        str | UnsetType, Meta(description="One call: the call within which it was made.")
    ] = UNSET
    thread: Annotated[str | UnsetType, Meta(description="One call: its thread and task.")] = UNSET
    delivered: Annotated[
        str | UnsetType, Meta(description="One call: what its caller got instead.")
    ] = UNSET
    changed: Annotated[
        dict[str, str] | UnsetType, Meta(description="One call: values that it left different.")
    ] = UNSET
    stack: Annotated[
        list[str] | UnsetType,
        Meta(description="One call: who made it, innermost first, as `function file:line`."),
    ] = UNSET
    problems: Annotated[
        list[str] | UnsetType, Meta(description="For what calls the filter had no answer, and why.")
    ] = UNSET
    omitted: Annotated[
        list[str] | UnsetType, Meta(description="What is left out, and how to see it.")
    ] = UNSET
    next: Annotated[str | UnsetType, Meta(description="What can be done next.")] = UNSET

    def to_text(self) -> str:
        return "\n".join(self._list_lines())

    def _list_lines(self) -> Iterator[str]:
        if self.stack is UNSET:
            yield f"{self.total} call{'s' * (self.total != 1)}" + (
                f" of {self.looked_at} looked at" if self.looked_at is not UNSET else ""
            )
        for call in self.calls:
            yield call.render()
        yield from self._list_details()
        if self.problems is not UNSET:
            yield from (f"problem: {problem}" for problem in self.problems)
        if self.older is not UNSET:
            yield f"older: calls_search(before='{self.older}')"
        yield from render_omitted(self.omitted)
        if self.next is not UNSET:
            yield f"next: {self.next}"

    def _list_details(self) -> Iterator[str]:
        for word, value in (
            ("made at", self.at),
            ("signature", self.signature),
            ("within", self.within),
            ("thread", self.thread),
            ("session", self.session_id),
        ):
            if value is not UNSET:
                yield f"  {word} {value}"
        if self.delivered is not UNSET:
            yield f"  its caller got {self.delivered}"
        if self.changed is not UNSET:
            yield "  it left different:"
            yield from render_values(self.changed)
        if self.stack is not UNSET and self.stack:
            yield f"  called from {' ← '.join(self.stack)}"

    def list_reductions(self) -> Iterator[CallReport]:
        for room in LADDER:
            yield self._fit(room)

    def _fit(self, room: Room) -> CallReport:
        shown = [call.fit(room) for call in self.calls[: room.items]]
        shown_names = ("session_id", "at", "signature", "within", "thread", "delivered", "older")
        names = fit_names(self, shown_names, room)
        if not room.items:
            names = {name: value for name, value in names.items() if name == "older"}
            names |= dict.fromkeys(("at", "signature", "within", "thread", "delivered"), UNSET)
            names["session_id"] = UNSET
        return msgspec.structs.replace(
            self,
            **names,
            calls=shown,
            changed=change_set(self.changed, lambda values: fit_values(values, room) or UNSET),
            stack=change_set(self.stack, lambda lines: fit_lines(lines, room)),
            problems=change_set(self.problems, lambda lines: fit_lines(lines, room) or UNSET),
            next=self.next if room.items else UNSET,
            omitted=[self._describe_omission(len(shown), room)],
        )

    def _describe_omission(self, shown: int, room: Room) -> str:
        left = self.calls[shown:]
        if left:
            counts = Counter(call.function for call in left).most_common(_SHOWN_FUNCTIONS)
            functions = ", ".join(f"{shorten(name, room.names)} ×{count}" for name, count in counts)
            return f"{len(left)} calls ({functions}): a smaller limit, a filter, or budget_tokens"
        if self.stack is not UNSET:
            return "some values: raise budget_tokens"
        return "some values: calls_search(call_id=…)"
