"""What waits for a decision, and what came of one: the answers of `hold_list` and `hold_decide`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from holdfast.wire.answer_room import (
    LADDER,
    Room,
    change_set,
    fit_lines,
    fit_names,
    fit_value,
    fit_values,
    shorten,
)
from holdfast.wire.answer_text import (
    render_omitted,
    render_outcome,
    render_takes,
    render_values,
)
from holdfast.wire.report_answers import Report
from holdfast.wire.tool_answers import ToolAnswer

_MOMENTS = {
    "before": "before it runs",
    "after": "after it returned",
    "exception": "after it raised",
    "model": "before the model call",
    "tool": "before the tool runs",
    "error": "after it failed",
}
FIELDS_OF = {
    "skip": ("value", "literal"),
    "raise": ("exception", "message"),
    "modify": ("args", "literals"),
    "replace": ("function",),
    "inject": ("message", "role"),
}
"""The fields of `hold_decide` that each action takes."""
# What a small answer leaves out first, and then.
_MINOR = ("waits", "timeout", "signature", "tool_id", "owner")
_MIDDLE = ("reason", "at", "turn", "call_id", "outcome")


class HeldTarget(msgspec.Struct, kw_only=True):
    """A point where a target waits for a decision."""

    hold_id: Annotated[str, Meta(description="The id of the hold.")]
    session_id: Annotated[str, Meta(description="The session whose target waits.")]
    kind: Annotated[str, Meta(description="program, calls or agent.")]
    moment: Annotated[
        str,
        Meta(
            description="stop; of a call before, after, exception; of an agent model, tool, error."
        ),
    ]
    owner: Annotated[str | UnsetType, Meta(description="The name of the session.")] = UNSET
    what: Annotated[
        str | UnsetType, Meta(description="The function, tool or model that is held.")
    ] = UNSET
    reason: Annotated[str | UnsetType, Meta(description="Why it is held.")] = UNSET
    at: Annotated[
        str | UnsetType, Meta(description="The line that waits, or that makes the call.")
    ] = UNSET
    turn: Annotated[
        str | UnsetType, Meta(description="Of an agent: the iteration, and the lane if several.")
    ] = UNSET
    tool_id: Annotated[str | UnsetType, Meta(description="Of a tool: the id of its call.")] = UNSET
    call_id: Annotated[str | UnsetType, Meta(description="Of a call: its id.")] = UNSET
    arguments: Annotated[
        dict[str, str] | UnsetType, Meta(description="The arguments, by name, as text.")
    ] = UNSET
    values: Annotated[
        dict[str, str] | UnsetType,
        Meta(description="Expressions that were asked for, in the frame of the caller."),
    ] = UNSET
    messages: Annotated[
        list[str] | UnsetType,
        Meta(description="Of a model call: the messages that it adds, as `author: text`."),
    ] = UNSET
    result: Annotated[str | UnsetType, Meta(description="What it returned.")] = UNSET
    exception: Annotated[str | UnsetType, Meta(description="What it raised.")] = UNSET
    waits: Annotated[float | UnsetType, Meta(description="For how many seconds.")] = UNSET
    timeout: Annotated[
        str | UnsetType, Meta(description="What becomes of it if nobody decides, and when.")
    ] = UNSET
    allows: Annotated[list[str], Meta(description="The actions that decide it.")] = []
    replacements: Annotated[
        list[str] | UnsetType, Meta(description="The functions that `replace` takes.")
    ] = UNSET
    outcome: Annotated[
        str | UnsetType, Meta(description="If it is settled: by which action, and by whom.")
    ] = UNSET
    signature: Annotated[str | UnsetType, Meta(description="The signature of the call.")] = UNSET
    stack: Annotated[
        list[str] | UnsetType,
        Meta(description="Who makes the call, innermost first, as `function file:line`."),
    ] = UNSET

    def fit(self, room: Room) -> HeldTarget:
        """It with as much of everything as there is room for."""
        shown_names = ("hold_id", "session_id", "owner", "what", "reason", "at", "turn")
        names = fit_names(self, shown_names, room)
        minor, middle = room.names < 60, room.names <= 30
        drops = [*(_MINOR if minor else ()), *(_MIDDLE if middle else ())]
        return msgspec.structs.replace(
            self,
            **names | dict.fromkeys(drops, UNSET),
            arguments=change_set(self.arguments, lambda values: fit_values(values, room) or UNSET),
            values=change_set(self.values, lambda values: fit_values(values, room) or UNSET),
            messages=change_set(self.messages, lambda lines: fit_lines(lines, room) or UNSET),
            result=change_set(self.result, lambda value: fit_value(value, room)),
            exception=change_set(self.exception, lambda value: fit_value(value, room)),
            replacements=change_set(
                self.replacements, lambda names: fit_lines(names, room) or UNSET
            ),
            stack=change_set(self.stack, lambda lines: fit_lines(lines, room) or UNSET),
        )

    def list_lines(self) -> Iterator[str]:
        """It as text."""
        yield self._render_head()
        yield from render_values(self.arguments)
        yield from render_values(self.values)
        if self.messages is not UNSET:
            yield from (f"  {message}" for message in self.messages)
        yield from render_outcome(self.result, self.exception)
        if self.signature is not UNSET:
            yield f"  signature {self.signature}"
        if self.stack is not UNSET:
            yield f"  called from {' ← '.join(self.stack)}"
        if self.timeout is not UNSET:
            yield f"  {self.timeout}"
        if self.outcome is not UNSET:
            yield f"  settled: {self.outcome}"
        if self.allows:
            yield f"  allows {', '.join(self.allows)}"
        if self.replacements is not UNSET:
            yield f"  replace takes {', '.join(self.replacements)}"

    def _render_head(self) -> str:
        moment = _MOMENTS.get(self.moment) if self.kind != "program" else UNSET
        parts = (
            (self.hold_id, "{}"),
            (self.kind, "{}"),
            (self.owner, "{}"),
            (self.what, "· {}"),
            (moment, "{}"),
            (self.at, "at {}"),
            (self.turn, "({})"),
            (self.reason, "[{}]"),
            (self.call_id, "call {}"),
            (self.tool_id, "tool call {}"),
            (self.waits, "for {:g} s"),
            (self.session_id, "· {}"),
        )
        return " ".join(form.format(value) for value, form in parts if value is not UNSET)


class HoldReport(ToolAnswer, kw_only=True):
    """What waits for a decision."""

    total: Annotated[int, Meta(description="How many holds there are.")]
    holds: Annotated[list[HeldTarget], Meta(description="The holds, oldest first.")]
    takes: Annotated[
        dict[str, str] | UnsetType,
        Meta(description="What the actions take: fields of `hold_decide`, by action."),
    ] = UNSET
    message: Annotated[str | UnsetType, Meta(description="What else is to be said.")] = UNSET
    omitted: Annotated[
        list[str] | UnsetType, Meta(description="What is left out, and how to see it.")
    ] = UNSET

    def to_text(self) -> str:
        return "\n".join(self._list_lines())

    def _list_lines(self) -> Iterator[str]:
        yield f"{self.total} held" if self.total else "nothing is held"
        if self.message is not UNSET:
            yield self.message
        for hold in self.holds:
            yield from hold.list_lines()
        yield from render_takes(self.takes)
        yield from render_omitted(self.omitted)

    def list_reductions(self) -> Iterator[HoldReport]:
        for room in LADDER:
            yield self._fit(room)

    def _fit(self, room: Room) -> HoldReport:
        omitted = [] if self.omitted is UNSET else list(self.omitted[: room.lines])
        shown = [hold.fit(room) for hold in self.holds[: room.items]]
        if len(shown) < len(self.holds):
            omitted = [f"{self.total - len(shown)} holds: raise budget_tokens"]
        elif len(self.holds) == 1:
            omitted = ["some values: raise budget_tokens"]
        else:
            omitted.append("some values: hold_list(hold_id=…)")
        return msgspec.structs.replace(
            self,
            holds=shown,
            takes=self.takes if room.items > 1 else UNSET,
            message=change_set(self.message, lambda text: shorten(text, room.names)),
            omitted=omitted,
        )


class HoldOutcome(ToolAnswer, kw_only=True):
    """What came of a decision."""

    hold_id: Annotated[str, Meta(description="The hold that it settled.")]
    session_id: Annotated[str, Meta(description="The session.")]
    action: Annotated[str, Meta(description="What was decided.")]
    status: Annotated[
        str, Meta(description="Where the session is now: running, paused, terminated…")
    ]
    what: Annotated[str | UnsetType, Meta(description="The function, tool or model.")] = UNSET
    call_id: Annotated[str | UnsetType, Meta(description="Of a call: `calls_search` has it.")] = (
        UNSET
    )
    changed: Annotated[
        dict[str, str] | UnsetType, Meta(description="The arguments that it changed, as text.")
    ] = UNSET
    result: Annotated[str | UnsetType, Meta(description="What it returned then.")] = UNSET
    exception: Annotated[str | UnsetType, Meta(description="What it raised then.")] = UNSET
    message: Annotated[str | UnsetType, Meta(description="What else is to be said.")] = UNSET
    report: Annotated[
        Report | UnsetType, Meta(description="Of a program: where it is now, and what is new.")
    ] = UNSET
    held: Annotated[
        list[HeldTarget] | UnsetType, Meta(description="What the session holds now.")
    ] = UNSET
    takes: Annotated[
        dict[str, str] | UnsetType,
        Meta(description="What the actions take: fields of `hold_decide`, by action."),
    ] = UNSET
    omitted: Annotated[
        list[str] | UnsetType, Meta(description="What is left out, and how to see it.")
    ] = UNSET

    def to_text(self) -> str:
        return "\n".join(self._list_lines())

    def _list_lines(self) -> Iterator[str]:
        what = f" {self.what}" if self.what is not UNSET else ""
        yield f"{self.action}{what}: {self.status} · {self.hold_id} · {self.session_id}"
        yield from render_values(self.changed)
        yield from render_outcome(self.result, self.exception)
        if self.call_id is not UNSET:
            yield f"  call {self.call_id}"
        if self.message is not UNSET:
            yield self.message
        if self.report is not UNSET:
            yield self.report.to_text()
        if self.held is not UNSET:
            yield "held now:"
            for hold in self.held:
                yield from hold.list_lines()
        yield from render_takes(self.takes)
        yield from render_omitted(self.omitted)

    def list_reductions(self) -> Iterator[HoldOutcome]:
        if self.report is not UNSET:
            for report in self.report.list_reductions():
                yield msgspec.structs.replace(self, report=report)
        for room in LADDER:
            yield self._fit(room)

    def _fit(self, room: Room) -> HoldOutcome:
        names = fit_names(self, ("hold_id", "session_id", "what", "message"), room)
        shown = [] if self.held is UNSET else [one.fit(room) for one in self.held[: room.items]]
        return msgspec.structs.replace(
            self,
            **names,
            changed=change_set(self.changed, lambda values: fit_values(values, room) or UNSET),
            result=change_set(self.result, lambda value: fit_value(value, room)),
            exception=change_set(self.exception, lambda value: fit_value(value, room)),
            report=UNSET,
            held=shown or UNSET,
            takes=self.takes if shown and room.items > 1 else UNSET,
            omitted=[self._describe_omission()],
        )

    def _describe_omission(self) -> str:
        if self.report is not UNSET:
            return "where it is: debug_inspect"
        if self.call_id is not UNSET:
            return "some values: calls_search(call_id=…)"
        return "some values: agent_control, hold_list"


def join_fields(action: str) -> str:
    """The fields that an action takes, in words."""
    fields = FIELDS_OF.get(action, ())
    is_either = any(name.startswith("literal") for name in fields)  # JSON, or a Python literal
    return (" or " if is_either else ", ").join(fields) or "nothing"


def describe_fields(holds: Sequence[HeldTarget]) -> dict[str, str] | UnsetType:
    """The fields of `hold_decide` that the actions of these holds take, by action."""
    actions = dict.fromkeys(action for hold in holds for action in hold.allows)
    takes = {action: join_fields(action) for action in actions if action in FIELDS_OF}
    if "modify" in takes and all(hold.kind == "agent" for hold in holds):
        takes["modify"] = "args"  # what an agent gets is JSON
    return takes or UNSET
