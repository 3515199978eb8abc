"""Where a value of a recording came from, for pages: each statement with its call and rounds."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType, field

from holdfast.wire.session_requests import Query


class WhyQuery(Query):
    """Which value."""

    variable: Annotated[
        str | None,
        Meta(description="`total`, `order.total` or `rows[2]`. None: the exception."),
    ] = None
    at: Annotated[str | None, Meta(description="`file:line`: the value before it runs.")] = None
    hit: Annotated[
        int, Meta(description="Which time the line runs, in all calls; -1 is the last.")
    ] = 1
    after: Annotated[bool, Meta(description="The value that the line left, instead.")] = False
    show_secrets: Annotated[bool, Meta(description="Show values that look like secrets.")] = False


class WhyStatement(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A statement that a value depends on, the time that mattered."""

    file: Annotated[str, Meta(description="Its file.")]
    line: Annotated[int, Meta(description="Its line.")]
    source: Annotated[str, Meta(description="The statement.")]
    call: Annotated[
        str | UnsetType, Meta(description="The call in which it ran, for `/calls/{key}`.")
    ] = UNSET
    rounds: Annotated[
        dict[str, int],
        Meta(description="The rounds of the loops around it, by the loops' lines."),
    ] = field(default_factory=dict)
    wrote: Annotated[dict[str, str], Meta(description="What it wrote.")] = field(
        default_factory=dict
    )
    read: Annotated[
        dict[str, str], Meta(description="What it read, and the line that wrote that.")
    ] = field(default_factory=dict)
    relation: Annotated[
        str | UnsetType,
        Meta(description="`not done`: a test kept it, or something like it, from happening."),
    ] = UNSET
    times: Annotated[int, Meta(description="In how many rounds it matters.")] = 1


class TraceWhy(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The write that produced a value, and what fed it, nearest first."""

    trace_id: Annotated[str, Meta(description="The recording.")]
    variable: Annotated[
        str | UnsetType, Meta(description="What was asked for, if not the exception.")
    ] = UNSET
    value: Annotated[str | UnsetType, Meta(description="What it held, or the exception.")] = UNSET
    hit: Annotated[int, Meta(description="Which time that line ran.")]
    hits: Annotated[int, Meta(description="How often it ran.")]
    assigned: Annotated[
        WhyStatement | UnsetType, Meta(description="The write that produced it.")
    ] = UNSET
    links: Annotated[
        list[WhyStatement], Meta(description="What it came from, nearest cause first.")
    ] = field(default_factory=list, name="from")
    left_out: Annotated[int, Meta(description="How many more matter less.")] = 0
    origins: Annotated[list[str], Meta(description="Where it ends: inputs.")] = field(
        default_factory=list
    )
    unknown: Annotated[list[str], Meta(description="What could not be known, and why.")] = field(
        default_factory=list
    )
    remarks: Annotated[list[str], Meta(description="What was not recorded, and why.")] = field(
        default_factory=list
    )
