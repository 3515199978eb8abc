"""A stop report: one answer that says why a program stopped, where, what changed, what to do next.

The tools that make a program run answer with it. Values are text. What was shown before and has not
changed is counted, and not repeated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from holdfast.wire import report_reduction, report_text
from holdfast.wire.tool_answers import ToolAnswer


class ReportedCause(msgspec.Struct, kw_only=True):
    """An exception that led to another."""

    type: Annotated[str, Meta(description="The name of its class.")]
    message: Annotated[str, Meta(description="Its message.")]
    relation: Annotated[str, Meta(description="`cause`, `context` or `member` of a group.")]
    at: Annotated[str | UnsetType, Meta(description="Where it was raised, as file:line.")] = UNSET
    text: Annotated[str | UnsetType, Meta(description="The text of that line.")] = UNSET
    locals: Annotated[dict[str, str] | UnsetType, Meta(description="The variables there.")] = UNSET


class ReportedFrame(msgspec.Struct, kw_only=True):
    """A frame that matters."""

    at: Annotated[str, Meta(description="Its place, as file:line.")]
    function: Annotated[str, Meta(description="Its function.")]
    text: Annotated[str | UnsetType, Meta(description="The line's text.")] = UNSET
    locals: Annotated[dict[str, str] | UnsetType, Meta(description="Its variables, as text.")] = (
        UNSET
    )


class ReportedException(msgspec.Struct, kw_only=True):
    """An exception that a program stopped at, or that ended it."""

    type: Annotated[str, Meta(description="The name of its class.")]
    message: Annotated[str, Meta(description="Its message; of a failed assertion, its operands.")]
    causes: Annotated[
        list[ReportedCause] | UnsetType, Meta(description="What led to it, nearest first.")
    ] = UNSET
    frames: Annotated[
        list[ReportedFrame] | UnsetType,
        Meta(description="The frames that matter, where it was raised first."),
    ] = UNSET


class Report(ToolAnswer, kw_only=True, dict=True):
    """Where a program is, and what is new since the last report."""

    status: Annotated[
        str,
        Meta(description="paused, running, waiting_for_input, terminated or failed."),
    ]
    session_id: Annotated[str, Meta(description="The session.")]
    reason: Annotated[str | UnsetType, Meta(description="Why it stopped, or ended.")] = UNSET
    at: Annotated[str | UnsetType, Meta(description="The line about to run, as file:line.")] = UNSET
    function: Annotated[
        str | UnsetType, Meta(description="The function there; left out of steps within it.")
    ] = UNSET
    message: Annotated[str | UnsetType, Meta(description="What else is to be said.")] = UNSET
    error: Annotated[
        str | UnsetType,
        Meta(description="What the evaluated code raised, or why it could not be evaluated."),
    ] = UNSET
    environment: Annotated[
        str | UnsetType, Meta(description="Which Python runs it, and how that was found.")
    ] = UNSET
    exception: Annotated[
        ReportedException | UnsetType, Meta(description="The exception, if that is the reason.")
    ] = UNSET
    source: Annotated[
        list[str] | UnsetType,
        Meta(description="The lines around, with their numbers; `>` marks the current one."),
    ] = UNSET
    locals: Annotated[
        dict[str, str] | UnsetType,
        Meta(description="Variables that are new or changed since the last report."),
    ] = UNSET
    was: Annotated[
        dict[str, str] | UnsetType, Meta(description="What the changed ones were before.")
    ] = UNSET
    gone: Annotated[list[str] | UnsetType, Meta(description="Variables that are no more.")] = UNSET
    unchanged: Annotated[
        int | UnsetType, Meta(description="How many variables are as they were.")
    ] = UNSET
    returned: Annotated[
        dict[str, str] | UnsetType, Meta(description="What the function just left returned.")
    ] = UNSET
    values: Annotated[
        dict[str, str] | UnsetType,
        Meta(description="Expressions that were asked for, and watches."),
    ] = UNSET
    stack: Annotated[
        list[str] | UnsetType,
        Meta(description="The callers, innermost first, as `function file:line`."),
    ] = UNSET
    steps: Annotated[
        list[str] | UnsetType,
        Meta(description="Of several steps: where each led, and what it changed."),
    ] = UNSET
    threads: Annotated[
        list[str] | UnsetType, Meta(description="The threads, and where each of them is.")
    ] = UNSET
    breakpoints: Annotated[
        list[str] | UnsetType, Meta(description="The breakpoints, if they were asked for.")
    ] = UNSET
    columns: Annotated[
        list[str] | UnsetType,
        Meta(description="The expressions whose values `rows` has, after the place."),
    ] = UNSET
    rows: Annotated[
        list[list[str]] | UnsetType,
        Meta(description="With `collect`: a row for each hit, with its place first."),
    ] = UNSET
    hits: Annotated[int | UnsetType, Meta(description="How many hits there were.")] = UNSET
    output: Annotated[
        str | UnsetType, Meta(description="What it wrote since the last report: the end of it.")
    ] = UNSET
    prompt: Annotated[
        str | UnsetType, Meta(description="Of a program that reads its stdin: what it asks.")
    ] = UNSET
    exit_code: Annotated[int | UnsetType | None, Meta(description="How it ended.")] = UNSET
    never_hit: Annotated[
        list[str] | UnsetType,
        Meta(description="At the end: breakpoints that were never hit, as file:line."),
    ] = UNSET
    problems: Annotated[
        list[str] | UnsetType,
        Meta(description="Breakpoints that cannot stop, conditions that raised, warnings."),
    ] = UNSET
    omitted: Annotated[
        list[str] | UnsetType, Meta(description="What is left out, and how to see it.")
    ] = UNSET
    next: Annotated[str | UnsetType, Meta(description="What can be done next.")] = UNSET

    @property
    def shapes(self) -> dict[str, str]:
        """What can be said of a long value in few words, by its text. It is not sent."""
        shapes: dict[str, str] = self.__dict__.setdefault("shapes", {})
        return shapes

    @property
    def inspected(self) -> str:
        """What a call names that shows more of the same, such as `frame=3`. It is not sent."""
        inspected: str = self.__dict__.setdefault("inspected", "")
        return inspected

    @inspected.setter
    def inspected(self, argument: str) -> None:
        self.__dict__["inspected"] = argument

    def to_text(self) -> str:
        return report_text.render(self)

    def list_reductions(self) -> Sequence[Report]:
        return report_reduction.Reductions(self)
