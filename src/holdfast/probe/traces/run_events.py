"""What the run recorder has under way: code, frames and events, and the lines that they become.

Lines that are objects are few, and last: files, code, statements, threads, notes. Lines that are
lists are one each for what happens, and the oldest go when the recording is full:

- `["F", frame, code, caller event, caller frame, caller statement, thread, time, namespace,
  arguments, homes]` a frame begins. An argument is `[name, text, time, places, object]`; places are
  null if it is a default. `homes` has the frame that a variable belongs to which it shares.
- `["e", time, done, frame, statement, reads, bases, writes, children, branch, raised]` a statement
  has run. `reads` and `bases` are in the order of the statement's, 0 for one that was not found;
  further ones follow. A write is `[place, text, label, object]`; label is a number among the
  statement's writes, or a text; the text of a deleted place is null.
- `["t", time, object, text]` what an object held then, if it is not what was last written.
- `["y", frame, time, done, text, object]` a generator gives a value, in the event of that time.
- `["x", frame, code, time, done, outcome, text, object]` a frame ends: `returned` or `raised`.

`time` counts beginnings and ends of events in one row. A place is `12.x` (variable of a frame),
`g3.x` (of a module), `a5.total` (attribute of an object), `i5['k']` (item), `c5` (all that it
holds), `s5` (any of its items may have moved), `?.x` (attribute of an object that is not known).
"""

from __future__ import annotations

from typing import Any, Dict, FrozenSet, List, Optional, Tuple

from .frame_names import list_names
from .object_numbers import ObjectEntry
from .place_facts import PlaceFact
from .statement_facts import Scope, Statement

GENERATOR, COROUTINE, ASYNC_GENERATOR = 0x20, 0x80, 0x200
_VARARGS, _VARKEYWORDS = 4, 8
_OPTIMIZED = 1


class CodePlan:
    """What is known of one code object of the program."""

    __slots__ = (
        "code",
        "count",
        "first_offset",
        "free",
        "instructions",
        "is_function",
        "is_generator",
        "is_hot",
        "is_noted",
        "names",
        "number",
        "params",
        "scope",
    )

    def __init__(self, code: Any, scope: Scope, number: int) -> None:
        self.code, self.scope, self.number = code, scope, number
        self.names: FrozenSet[str] = list_names(code)
        self.free: FrozenSet[str] = frozenset(code.co_freevars)
        self.is_function = bool(code.co_flags & _OPTIMIZED)
        self.is_generator = bool(code.co_flags & (GENERATOR | COROUTINE | ASYNC_GENERATOR))
        self.params = list_params(code)
        self.is_noted = False
        """Whether the recording has its line."""
        self.is_hot = False
        self.count = 0
        self.first_offset: Optional[int] = None
        self.instructions: bytes = code.co_code

    @property
    def waits(self) -> bool:
        """Whether it is a coroutine, in which a `StopIteration` is the end of another."""
        return bool(self.code.co_flags & (COROUTINE | ASYNC_GENERATOR))

    @property
    def gives_values(self) -> bool:
        """Whether what it yields is a value, and not a wait of a coroutine."""
        return bool(self.code.co_flags & (GENERATOR | ASYNC_GENERATOR))


def list_params(code: Any) -> Tuple[str, ...]:
    """The names of a function's parameters, with those that have stars."""
    flags = code.co_flags
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(flags & _VARARGS) + bool(flags & _VARKEYWORDS)
    names: Tuple[str, ...] = code.co_varnames[:count]
    return names


class PendingWrite:
    """A place that a statement under way is going to write."""

    __slots__ = ("before", "entry", "fact", "key", "kind", "label", "place", "size")

    def __init__(self, kind: str, place: str, label: Any, fact: Optional[PlaceFact]) -> None:
        self.kind, self.place, self.label, self.fact = kind, place, label, fact
        self.entry: Optional[ObjectEntry] = None
        self.key: Any = None
        self.size = 0
        """How many items a list had that is going to grow."""
        self.before: Optional[int] = None
        """The id of the value, for a write that may not happen."""


class Event:
    """One execution of one statement, under way."""

    __slots__ = (
        "bases",
        "branch",
        "calls_made",
        "children",
        "marks",
        "offset",
        "raised",
        "reads",
        "returned",
        "statement",
        "time",
        "writes",
    )

    def __init__(self, time: int, statement: Statement, offset: int) -> None:
        self.time, self.statement, self.offset = time, statement, offset
        self.reads: List[Any] = []
        self.bases: List[Any] = []
        self.writes: List[PendingWrite] = []
        self.children: List[int] = []
        self.calls_made: Dict[int, int] = {}  # how often it has called a code object, by number
        self.marks: List[Tuple[ObjectEntry, Any, str]] = []
        self.returned: List[ObjectEntry] = []
        """What the calls that it made have returned."""
        self.branch: Optional[int] = None
        self.raised: Optional[str] = None


class FrameInfo:
    """One invocation, under way."""

    __slots__ = (
        "caller",
        "entries",
        "error",
        "home",
        "is_module",
        "is_suspended",
        "namespace",
        "now",
        "number",
        "places",
        "plan",
        "thread",
        "turns",
    )

    def __init__(self, number: int, plan: CodePlan, namespace: int, thread: int) -> None:
        self.number, self.plan, self.namespace, self.thread = number, plan, namespace, thread
        self.now: Optional[Event] = None
        self.caller: Optional[Event] = None
        """What has called it, or lets it go on."""
        self.home: Optional["FrameInfo"] = None
        """The invocation whose variables it shares; that one may have ended."""
        self.error: Optional[str] = None
        """The last exception in the frame, which may be handled by now; before 3.12 only."""
        self.is_module = False
        self.is_suspended = False
        self.entries: Dict[Statement, int] = {}
        """The offset at which a loop or a `with` was entered."""
        self.turns: Dict[Statement, int] = {}
        self.places: Dict[str, str] = {}
        """Of its variables, as far as they were used."""

    def name_place(self, name: str, is_bound: bool = True) -> str:
        """The place of a variable, as this frame sees it."""
        place = self.places.get(name)
        if place is None:
            place = self._find_place(name, is_bound)
            if self.plan.is_function:
                self.places[name] = place
        return place

    def _find_place(self, name: str, is_bound: bool) -> str:
        plan = self.plan
        if (
            self.is_module
            or (not is_bound and not plan.is_function)
            or (plan.is_function and name not in plan.names)
        ):
            return "g%d.%s" % (self.namespace, name)
        if name in plan.free:
            owner = self.find_owner(name)
            return "%d.%s" % (owner, name)
        return "%d.%s" % (self.number, name)

    def find_owner(self, name: str) -> int:
        """The number of the frame that a shared variable belongs to."""
        home = self.home
        while home is not None:
            if name not in home.plan.free:
                return home.number
            home = home.home
        return self.number


def describe_file(number: int, path: str, text: str) -> Dict[str, Any]:
    return {"file": number, "path": path, "text": text}


def describe_code(plan: CodePlan, file: int, definition: int) -> Dict[str, Any]:
    scope = plan.scope
    return {
        "code": plan.number,
        "file": file,
        "name": scope.name,
        "qualname": scope.qualname,
        "first": plan.code.co_firstlineno,
        "last": scope.last,
        "params": list(plan.params),
        "free": sorted(plan.free),
        "function": plan.is_function,
        "definition": definition,
    }


def describe_statement(statement: Statement, number: int, file: int, related: Any) -> Any:
    """`related`: the numbers of its parent, of what may leave before it, and of its body."""
    parent, exits, body = related
    return {
        "statement": number,
        "file": file,
        "line": statement.line,
        "last": statement.last,
        "kind": statement.kind,
        "parent": parent,
        "exits": exits,
        "body": body,
        "could": sorted(statement.could),
        "reads": [[fact.kind, fact.label, fact.root] for fact in statement.reads],
        "bases": [[fact.kind, fact.label, fact.root] for fact in statement.bases],
        "writes": [fact.label for fact in statement.writes],
        "calls": [call.label for call in statement.calls],
        "returns": statement.returns,
        "unused": statement.unused,
    }


def describe_event(event: Event, done: int, frame: int, number: int, writes: List[Any]) -> Any:
    return [
        "e",
        event.time,
        done,
        frame,
        number,
        event.reads,
        event.bases,
        writes,
        event.children,
        event.branch,
        event.raised,
    ]
