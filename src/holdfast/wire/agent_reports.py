"""Where another agent's loop is, and what came of a command: the answer of `agent_control`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from holdfast.wire.answer_room import (
    LADDER,
    Room,
    change_set,
    fit_last_lines,
    fit_lines,
    fit_names,
    fit_values,
)
from holdfast.wire.answer_text import render_omitted, render_takes, render_values
from holdfast.wire.hold_reports import HeldTarget
from holdfast.wire.tool_answers import ToolAnswer

_LISTS = ("lanes", "breakpoints", "rules", "tools")


class AgentReport(ToolAnswer, kw_only=True):
    """Where an agent's loop is, and what was asked of it."""

    command: Annotated[str, Meta(description="What was asked for.")]
    status: Annotated[
        str | UnsetType, Meta(description="Where the loop is: running, paused or terminated.")
    ] = UNSET
    session_id: Annotated[str | UnsetType, Meta(description="The session of the agent.")] = UNSET
    name: Annotated[str | UnsetType, Meta(description="The agent's name.")] = UNSET
    model: Annotated[str | UnsetType, Meta(description="The model that it calls.")] = UNSET
    reason: Annotated[str | UnsetType, Meta(description="Why it is paused, or ended.")] = UNSET
    message: Annotated[str | UnsetType, Meta(description="What came of the command.")] = UNSET
    iteration: Annotated[int | UnsetType, Meta(description="Its model calls so far.")] = UNSET
    totals: Annotated[
        str | UnsetType, Meta(description="Its model calls, tools, errors and tokens in numbers.")
    ] = UNSET
    lanes: Annotated[
        list[str] | UnsetType, Meta(description="If it has several lanes: where each is.")
    ] = UNSET
    recent: Annotated[
        list[str] | UnsetType, Meta(description="What it did last, oldest first.")
    ] = UNSET
    messages: Annotated[
        list[str] | UnsetType, Meta(description="Its conversation, as `number author: text`.")
    ] = UNSET
    message_count: Annotated[
        int | UnsetType, Meta(description="How many messages the conversation has.")
    ] = UNSET
    context: Annotated[
        str | UnsetType, Meta(description="How large its context is, and may be.")
    ] = UNSET
    tools: Annotated[list[str] | UnsetType, Meta(description="The tools that it has.")] = UNSET
    variables: Annotated[
        dict[str, str] | UnsetType, Meta(description="Variables of the loop; `set` changes them.")
    ] = UNSET
    breakpoints: Annotated[
        list[str] | UnsetType, Meta(description="Breakpoints, with their ids and hits.")
    ] = UNSET
    rules: Annotated[
        list[str] | UnsetType, Meta(description="Rules of its project, which hold or deny.")
    ] = UNSET
    held: Annotated[
        list[HeldTarget] | UnsetType, Meta(description="What waits for a decision.")
    ] = UNSET
    takes: Annotated[
        dict[str, str] | UnsetType,
        Meta(description="What the actions take: fields of `hold_decide`, by action."),
    ] = UNSET
    omitted: Annotated[
        list[str] | UnsetType, Meta(description="What is left out, and how to see it.")
    ] = UNSET
    next: Annotated[str | UnsetType, Meta(description="What can be done next.")] = UNSET

    def to_text(self) -> str:
        return "\n".join(self._list_lines())

    def _list_lines(self) -> Iterator[str]:
        yield self._render_head()
        if self.message is not UNSET:
            yield self.message
        for word, value in (("totals", self.totals), ("context", self.context)):
            if value is not UNSET:
                yield f"{word}: {value}"
        for word, lines in (
            ("lanes", self.lanes),
            ("recent", self.recent),
            (self._render_message_heading(), self.messages),
            ("breakpoints", self.breakpoints),
            ("rules", self.rules),
        ):
            if lines is not UNSET:
                yield f"{word}:" if lines else f"{word}: none"
                yield from (f"  {line}" for line in lines)
        if self.tools is not UNSET:
            yield f"tools: {', '.join(self.tools) or 'none'}"
        if self.variables is not UNSET:
            yield "variables:"
            yield from render_values(self.variables)
        if self.held is not UNSET:
            yield "held:"
            for hold in self.held:
                yield from hold.list_lines()
        yield from render_takes(self.takes)
        yield from render_omitted(self.omitted)
        if self.next is not UNSET:
            yield f"next: {self.next}"

    def _render_head(self) -> str:
        parts = (
            (self.command, "{}"),
            (self.name, "agent {}"),
            (self.model, "({})"),
            (self.status, "is {}"),
            (self.reason, "({})"),
            (self.iteration, "at iteration {}"),
            (self.session_id, "· {}"),
        )
        return " ".join(form.format(value) for value, form in parts if value is not UNSET)

    def _render_message_heading(self) -> str:
        count = "" if self.message_count is UNSET else f" ({self.message_count} in all)"
        return f"messages{count}"

    def list_reductions(self) -> Iterator[AgentReport]:
        for room in LADDER:
            yield self._fit(room)

    def _fit(self, room: Room) -> AgentReport:
        shown_names = ("session_id", "name", "model", "reason", "message", "context", "next")
        names = fit_names(self, shown_names, room)
        lists = {
            name: change_set(getattr(self, name), lambda lines: fit_lines(lines, room) or UNSET)
            for name in _LISTS
        }
        shown = [] if self.held is UNSET else [one.fit(room) for one in self.held[: room.items]]
        if not room.items:
            drops = ("model", "totals", "context", "next", "name")
            names |= dict.fromkeys(drops, UNSET)
        return msgspec.structs.replace(
            self,
            **lists,
            **names,
            recent=change_set(self.recent, lambda lines: fit_last_lines(lines, room) or UNSET),
            messages=change_set(self.messages, lambda lines: fit_last_lines(lines, room) or UNSET),
            variables=change_set(self.variables, lambda values: fit_values(values, room) or UNSET),
            held=shown or UNSET,
            takes=self.takes if shown else UNSET,
            omitted=[self._describe_omission(room)],
        )

    def _describe_omission(self, room: Room) -> str:
        if self.messages is not UNSET and len(self.messages) > room.lines:
            return (
                f"{len(self.messages) - room.lines} messages: agent_control(command='inspect', "
                "start=…)"
            )
        if self.held is not UNSET and len(self.held) > room.items:
            return f"{len(self.held) - room.items} holds: hold_list"
        return "some values: raise budget_tokens"
