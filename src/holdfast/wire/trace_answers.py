"""Recordings as the interface shows them whole, for pages: every statement and every round."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType, field

from holdfast.wire.session_requests import Query


class TraceQuery(Query):
    """Which recordings."""

    limit: Annotated[int, Meta(description="At most so many.", ge=1, le=200)] = 50


class CallQuery(Query):
    """How a call is shown."""

    show_secrets: Annotated[bool, Meta(description="Show values that look like secrets.")] = False


class TraceSummary(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A recording of a run."""

    trace_id: Annotated[str, Meta(description="Its id.")]
    recorded: Annotated[
        str, Meta(description="What it has: `frame` (calls of one function), `run` or `calls`.")
    ]
    time: Annotated[str, Meta(description="When it began, as ISO 8601.")]
    target: Annotated[str, Meta(description="What was run.")]
    function: Annotated[str | UnsetType, Meta(description="The function whose calls it has.")] = (
        UNSET
    )
    session_id: Annotated[str | UnsetType, Meta(description="The session of the run.")] = UNSET
    python: Annotated[str, Meta(description="The version of Python.")] = ""
    bytes: Annotated[int, Meta(description="The size of its file.")] = 0


class TraceList(msgspec.Struct, kw_only=True):
    """Recordings, newest first."""

    traces: Annotated[list[TraceSummary], Meta(description="The newest ones.")]
    total: Annotated[int, Meta(description="How many there are.")]


class RecordedCall(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A call that a recording has."""

    key: Annotated[str, Meta(description="For `/calls/{key}`.")]
    function: Annotated[str, Meta(description="The function.")]
    file: Annotated[str, Meta(description="Its file.")]
    line: Annotated[int, Meta(description="Where it begins.")]
    index: Annotated[int, Meta(description="Which of its calls, from 1 on.")]
    outcome: Annotated[str, Meta(description="`returned`, `raised` or `running`.")]


class CountedCalls(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A function below its caller: how often it was called, and how long it took."""

    function: Annotated[str, Meta(description="The function.")]
    file: Annotated[str, Meta(description="Its file.")]
    line: Annotated[int, Meta(description="Where it begins.")]
    calls: Annotated[int, Meta(description="How often it was called there.")]
    total_ms: Annotated[float, Meta(description="How long, with what it called.")]
    own_ms: Annotated[float, Meta(description="How long by itself.")]
    raised: Annotated[int, Meta(description="How many of the calls raised.")] = 0
    depth: Annotated[int, Meta(description="How many calls it was made within.")] = 0


class Trace(TraceSummary, kw_only=True):
    """A recording with the calls that it has."""

    calls: Annotated[
        list[RecordedCall], Meta(description="Calls that can be looked at, in order.")
    ] = field(default_factory=list)
    total_calls: Annotated[int, Meta(description="How many there are; the list has the first.")] = 0
    tree: Annotated[
        list[CountedCalls],
        Meta(description="Of `calls`: the tree, each caller before its callees."),
    ] = field(default_factory=list)
    remarks: Annotated[list[str], Meta(description="What was not recorded, and why.")] = field(
        default_factory=list
    )


class ShownChange(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What a statement did to a variable."""

    name: Annotated[str, Meta(description="The variable.")]
    how: Annotated[str, Meta(description="`set`, `mutated`, `same` or `deleted`.")]
    text: Annotated[str, Meta(description="In few words.")]
    value: Annotated[str | UnsetType, Meta(description="What it holds then.")] = UNSET
    content_id: Annotated[
        str | UnsetType, Meta(description="The whole value, for `/api/cid/{cid}`, if it was cut.")
    ] = UNSET


class ShownEntry(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A statement that ran, or a loop."""

    line: Annotated[int, Meta(description="Where it begins.")]
    changes: Annotated[list[ShownChange], Meta(description="What it changed.")] = field(
        default_factory=list
    )
    calls: Annotated[list[str], Meta(description="What it called.")] = field(default_factory=list)
    taken: Annotated[
        bool | UnsetType, Meta(description="Of a test: whether its body was entered.")
    ] = UNSET
    raised: Annotated[str | UnsetType, Meta(description="What it raised.")] = UNSET
    yielded: Annotated[str | UnsetType, Meta(description="What it gave.")] = UNSET
    hit: Annotated[
        int, Meta(description="Of `run`: which time the line ran, in all calls, for `/why`.")
    ] = 0
    loop: Annotated[ShownLoop | UnsetType, Meta(description="A loop at this line.")] = UNSET


class ShownRound(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A round of a loop."""

    number: Annotated[int, Meta(description="From 1 on.")]
    entries: Annotated[
        list[ShownEntry], Meta(description="Its statements; none if only values were kept.")
    ] = field(default_factory=list)
    values: Annotated[dict[str, str], Meta(description="The loop's variables at its end.")] = field(
        default_factory=dict
    )
    path: Annotated[
        list[int], Meta(description="The first lines of the branches that it entered.")
    ] = field(default_factory=list)
    remark: Annotated[str, Meta(description="What is unusual about it.")] = ""


class ShownLoop(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A loop with all rounds that were kept."""

    iterations: Annotated[int, Meta(description="How many rounds there were.")]
    rounds: Annotated[list[ShownRound], Meta(description="Those that were kept, in order.")] = (
        field(default_factory=list)
    )
    forgotten: Annotated[int, Meta(description="Rounds of which only the number was kept.")] = 0


class TraceCall(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One call from its arguments to its end."""

    trace_id: Annotated[str, Meta(description="The recording.")]
    key: Annotated[str, Meta(description="The call in it.")]
    function: Annotated[str, Meta(description="The function.")]
    file: Annotated[str, Meta(description="Its file.")]
    first_line: Annotated[int, Meta(description="Where it begins.")]
    index: Annotated[int, Meta(description="Which of its calls, from 1 on.")]
    args: Annotated[dict[str, str], Meta(description="Its arguments.")]
    source: Annotated[dict[str, str], Meta(description="The lines of the function.")]
    entries: Annotated[list[ShownEntry], Meta(description="What ran, in order.")]
    outcome: Annotated[str, Meta(description="`returned`, `raised` or `running`.")]
    result: Annotated[str | UnsetType, Meta(description="What it returned, or the exception.")] = (
        UNSET
    )
    callers: Annotated[list[str], Meta(description="Who called it, innermost first.")] = field(
        default_factory=list
    )
    remarks: Annotated[list[str], Meta(description="What was not recorded, and why.")] = field(
        default_factory=list
    )
    parent: Annotated[str | UnsetType, Meta(description="The call within which it was made.")] = (
        UNSET
    )
    children: Annotated[
        list[RecordedCall], Meta(description="Calls made within it, as far as recorded.")
    ] = field(default_factory=list)
    previous: Annotated[str | UnsetType, Meta(description="The call before it.")] = UNSET
    next: Annotated[str | UnsetType, Meta(description="The call after it.")] = UNSET


class DeletedTraces(msgspec.Struct, kw_only=True):
    """How many recordings were deleted."""

    deleted: Annotated[int, Meta(description="How many.")]
