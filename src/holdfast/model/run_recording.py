"""A recorded run: every statement of a program's own code, with what it read and wrote.

Also what is told of one: where a value came from, and where two runs differ. Values are texts, made
without running any code of the program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple


@dataclass(frozen=True, slots=True)
class RecordedFile:
    """A source file, as it was when it ran."""

    number: int
    path: str
    lines: Sequence[str] = ()


@dataclass(frozen=True, slots=True, eq=False)
class RecordedCode:
    """A function, class body, module, lambda or generator expression."""

    number: int
    file: RecordedFile
    name: str
    qualname: str
    first: int
    last: int
    params: Sequence[str] = ()
    free: Sequence[str] = ()
    """Variables that it shares with the function it was defined in."""
    is_function: bool = True
    definition: int = -1
    """The statement that defines it."""


class StatementPlace(NamedTuple):
    """A place as a statement names it."""

    kind: str
    """`name`, `attr`, `item`, `content` (all that an object holds), `turn` (of a loop)."""
    label: str
    """Its text, such as `order.total`."""
    root: str
    """The variable that it begins with."""


@dataclass(frozen=True, slots=True, eq=False)
class RecordedStatement:
    """A statement; of a compound one, its header. Other statements are numbers, -1 for none."""

    number: int
    file: RecordedFile
    line: int
    last: int
    kind: str
    parent: int = -1
    """The one whose test leads here."""
    exits: int = -1
    """An earlier one of its block that may leave the block."""
    body: int = -1
    """Of a test or a loop: the first one of its body."""
    could: Sequence[str] = ()
    """Variables that its blocks write, and `return`."""
    reads: Sequence[StatementPlace] = ()
    bases: Sequence[StatementPlace] = ()
    writes: Sequence[str] = ()
    calls: Sequence[str] = ()
    returns: bool = False
    unused: str = ""
    """The function whose result it throws away."""

    @property
    def source(self) -> str:
        """Its text, in one line."""
        lines = self.file.lines[self.line - 1 : self.last]
        return " ".join(stripped for line in lines if (stripped := line.strip()))

    @property
    def is_definition(self) -> bool:
        return self.kind in ("def", "class", "import")


class PlaceWrite(NamedTuple):
    """What a statement did to one place."""

    place: str
    text: str | None
    """What it holds now; None: it was deleted, or would have been written."""
    label: int | str
    """A number among the statement's writes; a text if code outside the recording wrote it."""
    object: int
    """The number of the object that it holds now, if that may change."""


class GivenArgument(NamedTuple):
    """A parameter of an invocation, with its value and where that came from."""

    name: str
    text: str
    time: int
    places: Sequence[str] | None
    """None: its default."""
    object: int


@dataclass(slots=True, eq=False, repr=False)
class RunEvent:
    """One execution of one statement."""

    time: int
    """When it began, on a clock that counts beginnings and ends."""
    done: int
    """When it ended; 0 if it had not."""
    frame: RunFrame
    statement: RecordedStatement
    reads: Sequence[Any] = ()
    """Places in the order of the statement's; 0 for one that is not known."""
    bases: Sequence[Any] = ()
    writes: Sequence[PlaceWrite] = ()
    children: Sequence[int] = ()
    """The invocations that it called or let go on."""
    branch: int | None = None
    """Of a test or a loop: whether its body was entered."""
    raised: str | None = None


@dataclass(slots=True, eq=False, repr=False)
class GivenValue:
    """What a generator gave."""

    time: int
    """The event that gave it."""
    done: int
    text: str
    object: int


@dataclass(slots=True, eq=False, repr=False)
class RunFrame:
    """One invocation."""

    number: int
    code: RecordedCode
    caller_time: int = 0
    """The event that called it; 0 if no recorded code did."""
    caller: int = 0
    """The invocation that this event is of."""
    site: int = -1
    """The statement that called it."""
    thread: int = 0
    time: int = 0
    namespace: int = 0
    args: Sequence[GivenArgument] = ()
    homes: Mapping[str, int] = field(default_factory=dict)
    """The invocations that its shared variables belong to."""
    events: list[RunEvent] = field(default_factory=list)
    given: list[GivenValue] = field(default_factory=list)
    outcome: str = "running"
    """`returned`, `raised`, or `running` if its end was not recorded."""
    result: str | None = None
    """What it returned or raised."""
    result_object: int = 0
    result_time: int = 0
    """The event that returned it."""
    end: int = 0
    """When it ended; 0 if it had not."""
    is_cut: bool = False
    """Whether its beginning was dropped."""


@dataclass(slots=True, eq=False, repr=False)
class RunRecording:
    """All that was recorded of one run."""

    header: Mapping[str, Any]
    files: dict[int, RecordedFile] = field(default_factory=dict)
    codes: dict[int, RecordedCode] = field(default_factory=dict)
    statements: dict[int, RecordedStatement] = field(default_factory=dict)
    frames: dict[int, RunFrame] = field(default_factory=dict)
    events: dict[int, RunEvent] = field(default_factory=dict)
    """By the time at which they began, in order."""
    threads: dict[int, str] = field(default_factory=dict)
    classes: dict[int, int] = field(default_factory=dict)
    """By the number of a class: the invocation of its body."""
    texts: dict[int, list[tuple[int, str]]] = field(default_factory=dict)
    """By the number of an object: when it was seen to hold what, in order."""
    dropped: int = 0
    remarks: list[str] = field(default_factory=list)

    @property
    def roots(self) -> Sequence[str]:
        """The directories of the program's own code."""
        return tuple(self.header.get("roots") or ())


# -- where a value came from ----------------------------------------------------------------------


@dataclass(frozen=True)
class WhyLink:
    """A statement that a value depends on."""

    file: str
    line: int
    function: str
    source: str
    """The statement, in one line."""
    relation: str = "value"
    """How it matters: `value`, `argument`, `returned`, `test`, `not done`, `raised`, `called by`,
    `which object`."""
    name: str = ""
    value: str | None = None
    """Of the link that a chain begins with: what was asked for, as this statement left it."""
    wrote: Mapping[str, str] = field(default_factory=dict)
    read: Mapping[str, str] = field(default_factory=dict)
    """With the line that wrote it, as `3 (line 12)`."""
    times: int = 1
    """In how many executions it matters."""
    unknown: Sequence[str] = ()
    """What could not be known of it."""
    frame: int = 0
    """The invocation in which it ran."""
    time: int = 0
    """The execution that the values are of; 0 if it was not recorded."""


@dataclass(frozen=True)
class WhyChain:
    """Which write produced a value, and what fed it."""

    links: Sequence[WhyLink]
    """Nearest cause first, without the write itself."""
    assigned: WhyLink | None = None
    """The write that produced the value."""
    name: str | None = None
    """What was asked for; None for the exception that ended the run."""
    value: str | None = None
    file: str | None = None
    line: int = 0
    hit: int = 0
    """Which execution of the line was meant, from 1 on."""
    hits: int = 0
    """How often it was executed."""
    origins: Sequence[str] = ()
    """The inputs and constants where it begins."""
    unknown: Sequence[str] = ()
    """What could not be known, and why."""
    left_out: int = 0
    """Further lines that matter less."""


# -- where two runs differ ------------------------------------------------------------------------


@dataclass(frozen=True)
class Side:
    """One run, at the place where two differ."""

    file: str
    line: int
    source: str = ""
    did: str = ""
    """What happened there, if it is not a value that was written."""
    values: Mapping[str, str] = field(default_factory=dict)
    """What the statement wrote, or the arguments."""
    state: Mapping[str, str] = field(default_factory=dict)
    """The variables of the invocation before it, as far as they are known."""


@dataclass(frozen=True)
class StackCall:
    """An invocation that a place is in."""

    function: str
    file: str
    line: int
    args: str = ""

    def __str__(self) -> str:
        return f"{self.function}({self.args})"


@dataclass(frozen=True)
class Parting:
    """A place where two runs differ."""

    kind: str
    """`path`, `value`, `arguments`, `calls`, `outcome`, `changed line`, `raised`, `end`."""
    calls: Sequence[StackCall] = ()
    """The calls that it is in, outermost first; as in the first run."""
    a: Side | None = None
    b: Side | None = None
    after: str | None = None
    """The statement that led there, in both."""

    @property
    def stack(self) -> Sequence[str]:
        return [str(call) for call in self.calls]


@dataclass(frozen=True)
class RunDifference:
    """Where two runs differ."""

    partings: Sequence[Parting] = ()
    """In order of time; after the first, one of each other kind."""
    remarks: Sequence[str] = ()

    @property
    def equal(self) -> bool:
        return not self.partings

    @property
    def first(self) -> Parting | None:
        return self.partings[0] if self.partings else None

    @property
    def others(self) -> Sequence[Parting]:
        return self.partings[1:]
