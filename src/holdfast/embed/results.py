"""What the Futures of an adapter answer: plain dicts, with the names of the REST answers.

Breakpoints have the names of the Debug Adapter Protocol instead, as editors know them. A field that
does not apply is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict

from holdfast.wire.program_answers import Frame, OutputEntry, Thread, Variable

if TYPE_CHECKING:
    from typing_extensions import NotRequired  # in `typing` from Python 3.11 on


class Location(TypedDict):
    """A place in source code."""

    file: str
    line: int
    function: str | None


class ThrownException(TypedDict, total=False):
    """The exception that a program stopped at, or that ended it."""

    type: str
    module: str
    message: str
    location: Location | None
    causes: list[dict[str, Any]]
    frames: list[dict[str, Any]]


class DataChange(TypedDict, total=False):
    """What was written, at a stop of a data breakpoint."""

    breakpoint_id: str
    name: str
    old: str | None
    new: str | None
    location: Location | None
    """The line that wrote."""
    message: str


class ProgramState(TypedDict, total=False):
    """Where a program is: running, at a stop, or over."""

    session_id: str
    status: str
    """created, launching, running, paused, waiting_for_input, terminated or failed."""
    reason: str | None
    """Why it stopped (breakpoint, function breakpoint, data breakpoint, step, exception, pause,
    entry), or how it ended."""
    location: Location | None
    """While paused: the line that is about to run."""
    thread_id: int
    breakpoint_id: str
    breakpoint_ids: list[str]
    data: DataChange
    exception: ThrownException
    returned: list[Variable]
    locals: list[Variable]
    locals_total: int
    source: dict[str, Any] | None
    stack: list[Frame]
    stack_total: int
    output: list[OutputEntry]
    output_cursor: str
    prompt: str
    exit_code: int | None
    signal: str
    stderr_tail: str
    never_hit: list[dict[str, Any]]
    condition_errors: list[dict[str, Any]]
    hold_id: str | None
    message: str
    warnings: list[str]
    held_children: list[dict[str, Any]]
    pause_pending: bool
    native_frame: bool


class Stack(TypedDict):
    """A stack, innermost frame first."""

    frames: list[Frame]
    total: int
    start: int
    has_more: bool
    thread_id: NotRequired[int]


class Variables(TypedDict):
    """The variables of a frame, or what a value holds."""

    variables: list[Variable]
    total: int
    has_more: bool


class ThreadsResult(TypedDict):
    """Every thread of the program."""

    threads: list[Thread]


EvaluationResult = Variable
"""The value of an expression: `result` is its text, `type` the name of its class."""


class Output(TypedDict):
    """What the program wrote after a cursor."""

    outputs: list[OutputEntry]
    text: str
    """All of it as one text."""
    cursor: str
    has_more: bool
    dropped: int


class SourceResult(TypedDict):
    path: str


class BreakpointResult(TypedDict, total=False):
    """A breakpoint as it was found, in the shape that editors know."""

    id: int
    verified: bool
    """Whether it can fire; if not, `message` says why."""
    message: str
    line: int
    source: SourceResult
    function: str
    dataId: str
    accessType: str
    expression: str
    """Of a data breakpoint: what it watches."""
    breakpoint_id: str
    """Its id over REST, and in stops."""
    set_by: list[str]
    """Who wants it: `controller` is this one."""
    hits: int
    condition: str
    hit_condition: str
    log_message: str


class BreakpointEvent(TypedDict):
    """That somebody set, changed or removed a breakpoint of the session."""

    reason: Literal["new", "changed", "removed"]
    breakpoint: BreakpointResult


class DataInfo(TypedDict):
    """Whether a value can be watched, and the id to watch it by."""

    dataId: str | None
    description: str
    """What would be watched, or why that cannot be."""
    accessTypes: list[str]
    canPersist: bool
