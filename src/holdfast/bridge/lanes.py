"""The agents of one process: their lanes, the turns of each, and which turn asked for a tool.

A *lane* is one agent by its name. A *scope* is one life of it: a run of its loop, or what a tool
calls inside itself. A *turn* is one model call and the tools that it asked for. Scopes, turns and
running tools are found by context variables, so threads and tasks that a framework starts with a
copy of the context find theirs.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from holdfast.model.agent_events import LANE_START, MAIN, Event, LaneStart
from holdfast.recording.recording_state import RecordedCall

_MAX_ASKED = 10_000  # tool calls whose turn is remembered


@dataclass(eq=False)
class Lane:
    """What is remembered of one agent from one model call to the next."""

    name: str = MAIN
    iteration: int = 0
    """Its model calls so far."""
    parent: str | None = None
    """The lane that called it."""
    within: str | None = None
    """The id of the tool inside which it began."""
    open_scopes: int = 0
    has_begun: bool = False
    texts: list[str] = field(default_factory=list)
    shown: list[Any] = field(default_factory=list)
    digests: list[str] = field(default_factory=list)
    count: int = 0
    known_texts: set[str] = field(default_factory=set)
    """Messages of users that have an event already, and those that the debugger put in."""
    prompts: dict[str, str] = field(default_factory=dict)
    """System prompts that were changed, as JSON, and what each was changed to."""


@dataclass(eq=False)
class Scope:
    """One life of a lane."""

    lane: Lane
    tool: ActiveTool | None = None
    """The tool inside which it began."""
    turn: Turn | None = None
    """The one that began last."""


@dataclass(eq=False)
class Turn:
    """One model call, and the tools that it asked for."""

    scope: Scope
    iteration: int
    is_recorded: bool = False
    """Whether it comes from the recording that is replayed; then all that it asked for does."""
    entry: RecordedCall | None = None
    """The call of the recording that it is."""
    asked: dict[str, int] = field(default_factory=dict)
    """The ids of the tool calls that the model asked for; each with its place among those of the
    same tool."""
    started: dict[str, int] = field(default_factory=dict)
    """How many calls of each tool have begun."""

    def place(self, tool_id: str | None, name: str) -> int:
        """Which of the calls of that tool it is, from 0 on."""
        number = self.started.get(name, 0)
        self.started[name] = number + 1
        return self.asked.get(tool_id, number) if tool_id is not None else number


class HeldTime:
    """How long something was held inside a tool. What is held at the same time counts once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0
        self._since = 0.0
        self._until = 0.0
        """The end of what has been counted so far."""
        self._seconds = 0.0

    def begin(self, began: float) -> None:
        """It may have begun a moment ago."""
        with self._lock:
            if self._count:
                self._since = max(self._until, min(self._since, began))
            else:
                self._since = max(self._until, began)
            self._count += 1

    def end(self, now: float) -> None:
        with self._lock:
            self._count -= 1
            if not self._count:
                self._seconds += now - self._since
                self._until = now

    def seconds(self, now: float) -> float:
        with self._lock:
            return self._seconds + (now - self._since if self._count else 0.0)


@dataclass(eq=False)
class ActiveTool:
    """A tool that runs."""

    id: str
    name: str
    owner: LaneTable
    scope: Scope
    """That of the turn that asked for it."""
    turn: Turn | None
    is_recorded: bool
    """Whether its turn comes from the recording that is replayed."""
    place: int = 0
    """Which of the turn's calls of this tool it is."""
    inner: Scope | None = field(default=None, init=False)
    """What it calls inside itself, without a run."""
    outer: ActiveTool | None = None
    """The tool that called it itself."""
    held: HeldTime | None = field(default=None, init=False)
    """What was held inside it is not its own time; None if nothing was."""


current_scope: ContextVar[tuple[LaneTable, Scope] | None] = ContextVar(
    "holdfast_scope", default=None
)
_current_turn: ContextVar[Turn | None] = ContextVar("holdfast_turn", default=None)
within: ContextVar[ActiveTool | None] = ContextVar("holdfast_within", default=None)
"""The tool that runs here."""


class LaneTable:
    """The lanes of one session."""

    def __init__(self, emit: Callable[[Event], object]) -> None:
        self._emit = emit
        self._lock = threading.RLock()
        self.lanes: dict[str, Lane] = {}
        self._named: dict[str, Scope] = {}
        """The scopes of lanes that were named by a call, and not by a run."""
        self._tools: dict[str, ActiveTool] = {}
        """The tools that have not ended, by their ids."""
        self._turns: set[Turn] = set()
        """Those whose model call has not ended."""
        self._keyed: dict[str, str] = {}
        """Lanes by the keys that a framework has for them."""
        self._askers: dict[str, Turn] = {}
        """The turn that asked for a tool, by the id of the tool call."""
        self.latest = MAIN
        """The lane that called a model last."""
        self._root = Scope(self.get(MAIN))
        self._root.lane.has_begun = True

    def get(self, name: str) -> Lane:
        lane = self.lanes.get(name)
        if lane is None:
            with self._lock:
                lane = self.lanes.setdefault(name, Lane(name))
        return lane

    # -- where a call belongs --------------------------------------------------------------------

    @property
    def tool(self) -> ActiveTool | None:
        """The tool of this session that runs in this context."""
        tool = within.get()
        return tool if tool is not None and tool.owner is self else None

    @property
    def scope(self) -> Scope:
        """That of this context; of what a tool calls inside itself, once it has called a model."""
        return self._find_scope(self.tool)

    def _find_scope(self, tool: ActiveTool | None) -> Scope:
        found = current_scope.get()
        scope = found[1] if found is not None and found[0] is self else self._root
        if tool is not None and scope.tool is not tool and tool.inner is not None:
            return tool.inner
        return scope

    def find_for_model(self, lane: str) -> Scope:
        """The scope of a model call. Inside a tool it is not the tool's own: another agent asks."""
        tool = self.tool
        scope = self._find_scope(tool)
        if lane and lane != scope.lane.name:
            return self._find_named(lane)
        if tool is None or scope.tool is tool or lane:
            return scope
        with self._lock:
            if tool.inner is None:
                tool.inner = self._open(self._choose_name(tool.name, tool.place + 1))
            return tool.inner

    def find_for_tool(
        self, lane: str, tool_id: str | None, outer: ActiveTool | None
    ) -> tuple[Scope, Turn | None]:
        """The turn that asked for a tool: by the id of the call, else the one of this context.

        `outer` is the tool that runs in this context.
        """
        turn = _current_turn.get()
        scope = self._find_scope(outer)
        is_named = bool(lane) and lane != scope.lane.name
        if is_named:
            scope = self._find_named(lane)
        if turn is None or turn.scope is not scope:
            turn = scope.turn
        if tool_id is not None and (turn is None or tool_id not in turn.asked):
            asker = self._askers.get(tool_id)
            if asker is not None:
                return asker.scope, asker
        if is_named:
            return scope, turn
        if outer is not None and scope is outer.scope and scope.tool is not outer:
            return scope, outer.turn  # a tool that a tool calls itself
        return scope, turn

    def name_keyed(self, place: Sequence[tuple[str, str]]) -> str:
        """The lane of what a framework tells apart by keys: each level has a key and a name.

        Each key has a lane of its own, called by its name, and by a number if there are more.
        """
        name = MAIN
        with self._lock:
            for key, base in place:
                if key not in self._keyed:
                    taken, number, parent = set(self._keyed.values()) | {MAIN}, 1, name
                    while (name := base if number == 1 else f"{base}-{number}") in taken:
                        number += 1
                    self._keyed[key] = name
                    self._begin(self.get(name), parent)
                name = self._keyed[key]
        return name

    def _find_named(self, lane: str) -> Scope:
        with self._lock:
            scope = self._named.get(lane)
            if scope is None or scope.tool is not self.tool:
                scope = self._named[lane] = Scope(self.get(lane), self.tool)
                self._begin(scope.lane)
            return scope

    # -- scopes ----------------------------------------------------------------------------------

    def open_run(self, lane: str | None, base: str | None, *, is_alone: bool = False) -> Scope:
        """The scope of a run. Without a lane, it is that of the context; inside a tool it is one
        of its own, as it is for a run that `is_alone` while others run in the lane."""
        with self._lock:
            return self._open(lane or self._choose_lane(base, is_alone))

    def _choose_lane(self, base: str | None, is_alone: bool) -> str:
        scope, tool = self.scope, self.tool
        if tool is not None and scope.tool is not tool:
            return self._choose_name(base or tool.name, tool.place + 1)
        if is_alone and scope is self._root and scope.lane.open_scopes:
            return self._choose_name(base or "agent", 1)
        return scope.lane.name

    def _choose_name(self, base: str, number: int) -> str:
        """The first name from that number on that nobody uses now."""
        while True:
            name = base if number == 1 else f"{base}-{number}"
            if name != MAIN and (name not in self.lanes or not self.lanes[name].open_scopes):
                return name
            number += 1

    def _open(self, name: str) -> Scope:
        lane = self.get(name)
        self._begin(lane)
        lane.open_scopes += 1
        return Scope(lane, self.tool)

    def close_scope(self, scope: Scope) -> None:
        with self._lock:
            scope.lane.open_scopes -= 1

    def _begin(self, lane: Lane, parent: str | None = None) -> None:
        """Say where a lane begins: once, and again when that is inside another tool."""
        tool = self.tool
        caller = self.scope.lane if tool is None else tool.scope.lane
        is_alone = caller is self._root.lane and not caller.iteration and not caller.open_scopes
        if parent is None and caller is not lane and not is_alone:
            parent = caller.name
        inside = None if tool is None else tool.id
        if lane.has_begun and (lane is self._root.lane or (inside == lane.within)):
            return
        lane.has_begun, lane.parent, lane.within = True, parent, inside
        event: LaneStart = {"lane": lane.name}
        if parent is not None:
            event["parent"] = parent
        if inside is not None:
            event["within"] = inside
        self._emit(LANE_START(event))

    # -- turns -----------------------------------------------------------------------------------

    def begin_turn(self, scope: Scope) -> Turn:
        with self._lock:
            scope.lane.iteration += 1
            turn = scope.turn = Turn(scope, scope.lane.iteration)
            self.latest = scope.lane.name
        self._turns.add(turn)
        _current_turn.set(turn)
        return turn

    def note_asked(self, turn: Turn, calls: Any) -> None:
        """The model asks for these tools: `id` and `name` of each."""
        numbers: Counter[str] = Counter()
        for call in calls if isinstance(calls, list) else ():
            tool_id = call.get("id") if isinstance(call, dict) else None
            if isinstance(tool_id, str) and tool_id:
                name = str(call.get("name"))
                turn.asked[tool_id] = numbers[name]
                numbers[name] += 1
                self._askers.pop(tool_id, None)
                self._askers[tool_id] = turn
        while len(self._askers) > _MAX_ASKED:
            self._askers.pop(next(iter(self._askers)), None)

    def list_held_times(self) -> list[HeldTime]:
        """Those of the tool that runs here, and of the tools that it runs in."""
        times, tool = [], self.tool
        with self._lock:
            while tool is not None:
                tool.held = tool.held or HeldTime()
                times.append(tool.held)
                tool = tool.outer
        return times

    def begin_tool(self, tool: ActiveTool) -> None:
        """Its id is the one that it has, with a number while another call has it.

        Some models give the same ids in every answer, and agents may run side by side.
        """
        wanted, number = tool.id, 2
        while self._tools.setdefault(tool.id, tool) is not tool:
            tool.id, number = f"{wanted}~{number}", number + 1

    def end_tool(self, tool: ActiveTool) -> None:
        self._tools.pop(tool.id, None)

    def end_turn(self, turn: Turn) -> None:
        self._turns.discard(turn)

    def is_running(self, lane: Lane) -> bool:
        """Whether a run of it, a model call or a tool has not ended."""
        if lane.open_scopes > 0:
            return True
        calls: list[Turn | ActiveTool] = [*self._turns.copy(), *self._tools.copy().values()]
        return any(call.scope.lane is lane for call in calls)

    def skip_iterations(self, last: Mapping[str, int]) -> None:
        """A tool was played: the model calls inside it, up to these by lane, do not happen."""
        with self._lock:
            for name, iteration in last.items():
                lane = self.get(name)
                lane.iteration = max(lane.iteration, iteration)
