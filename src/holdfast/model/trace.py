"""A frame trace: the whole life of one invocation of a function, as values.

Texts of values are made without running any code of the program. `content_id` stands for the bytes
of a plain value whose text was cut; the store has them under that id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class TracedValue:
    """A value as text."""

    text: str
    content_id: str | None = None
    """Of a plain value whose text was cut."""


@dataclass(frozen=True)
class Change:
    """What one statement did to one variable of the frame."""

    name: str
    """The variable."""
    value: TracedValue | None
    """What it holds now; None: it was deleted."""
    how: str
    """`set` (bound to another value), `mutated` (changed in place), `same` (assigned, and as it
    was), `deleted`."""
    text: str
    """In few words, such as `total = 3`, `items + [4]`, `point.x: 1 -> 2`, `del name`."""
    alias: str | None = None
    """Another variable that holds the same object, and is changed by the same statement."""


@dataclass(frozen=True)
class CalleeCall:
    """A call that a statement made, and what came of it."""

    function: str
    args: str
    result: str | None = None
    raised: str | None = None


@dataclass(frozen=True)
class Step:
    """One execution of one statement."""

    line: int
    changes: Sequence[Change] = ()
    calls: Sequence[CalleeCall] = ()
    calls_left_out: int = 0
    taken: bool | None = None
    """Of a test: whether its body was entered."""
    raised: str | None = None
    """The exception that ended the statement."""
    yielded: str | None = None
    """What a generator gave at this statement."""
    hit: int = 0
    """Which time the line ran in the whole run, from 1 on; 0 if that is not known."""


@dataclass(frozen=True)
class Iteration:
    """One round of a loop."""

    number: int
    """From 1 on."""
    steps: Sequence[Step | LoopRun] = ()
    """Empty if only its values were kept."""
    values: Mapping[str, str] = field(default_factory=dict)
    """The loop's variables at its end, as text."""
    path: Sequence[int] = ()
    """The first lines of the branches that it entered."""
    remark: str = ""
    """Why it is unusual: `new path`, `left here`, `left by return`, `x is NoneType`."""


@dataclass(frozen=True)
class LoopRun:
    """One execution of a loop: all its rounds."""

    line: int
    iterations: int
    kept: Sequence[Iteration] = ()
    """Rounds in full detail, in order."""
    rows: LoopRows | None = None
    """Later rounds, by their values alone."""
    before: Mapping[str, str] = field(default_factory=dict)
    """The loop's variables before it, as text."""
    after: Mapping[str, str] = field(default_factory=dict)
    paths: Sequence[tuple[Sequence[int], int, int]] = ()
    """Branches entered, how often this way was taken, and in which round first."""
    forgotten: int = 0
    """How many rounds left nothing but a count, because there were too many."""


@dataclass(frozen=True)
class LoopRows:
    """The values of a loop's variables at the end of each of consecutive rounds."""

    first: int
    """The number of the first round."""
    columns: Mapping[str, Sequence[str]]
    """Texts of the values of each variable."""
    paths: Sequence[Sequence[int]]
    """The way that each round took."""


@dataclass(frozen=True)
class Caller:
    """A frame that the invocation was made within."""

    function: str
    file: str
    line: int
    args: Mapping[str, str] = field(default_factory=dict)
    """The arguments of that frame, as text."""


@dataclass(frozen=True)
class FrameTrace:
    """One invocation from its arguments to its end."""

    function: str
    """As `module.Class.method`, or as `<module>`."""
    file: str
    first_line: int
    index: int
    """Which invocation of this function it is, from 1 on."""
    args: Mapping[str, TracedValue]
    items: Sequence[Step | LoopRun]
    source: Mapping[int, str]
    """The lines of the function."""
    outcome: str
    """`returned`, `raised`, or `running` if the end was not recorded."""
    result: TracedValue | None = None
    """What it returned, or the exception that it raised."""
    exception_type: str | None = None
    now: int = 0
    """Of a call that had not ended: the line that it was at, if that is known."""
    exception_line: int = 0
    """Where the exception was raised in the function; 0 if only its statements tell."""
    thread: str = ""
    callers: Sequence[Caller] = ()
    """Innermost first."""
    remarks: Sequence[str] = ()
    """What was not recorded, and why."""
    is_picked: bool = False
    """Whether it is the call that was asked for, and not one before or after it."""


@dataclass(frozen=True)
class CallNode:
    """A function within those that called it: how often, and how long it took."""

    function: str
    file: str
    line: int
    calls: int
    total_ms: float
    """With the functions that it called."""
    own_ms: float
    raised: int = 0
    """How many of its calls ended by an exception."""
    children: Sequence[CallNode] = ()
