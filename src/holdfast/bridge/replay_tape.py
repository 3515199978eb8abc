"""A recording to play from: what models and tools gave, in the order in which they were called.

The model calls of a lane come in their order, and a tool belongs to its turn; then their keys must
agree. The tools of one turn may have run in parallel, and so may several agents that share a lane:
these may come in another order now, and each finds its own by its key. What a tool called inside
itself is not called again when the tool's own result is played.

`recording/recorded_calls.py` says what of it a fork plays.
"""

from __future__ import annotations

import re
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from holdfast.bridge.bridge_errors import Diverged
from holdfast.bridge.recorded_values import NotRestorable, Values
from holdfast.bridge.redaction import Redaction
from holdfast.model.agent_events import (
    CONVERSATION_EDITED,
    MAIN,
    MESSAGE_INJECTED,
    VARIABLE_SET,
    EventData,
)
from holdfast.recording.content_files import ContentFiles
from holdfast.recording.directories import SessionDirectory
from holdfast.recording.recorded_calls import RecordedCalls
from holdfast.recording.recording_state import TOOL, RecordedCall, lane_of, seq_of
from holdfast.wire.json_difference import describe_difference

MODEL, FULL = "model", "full"
_NUMBER = re.compile(r"-\d+$")
"""What tells agents apart that have the same name."""


class _Group:
    """Calls that may come in any order."""

    def __init__(self, calls: list[RecordedCall]) -> None:
        self.calls = dict.fromkeys(calls)
        self._by_key: dict[tuple[str, str, str], deque[RecordedCall]] = defaultdict(deque)
        for call in calls:
            name = call.name if call.kind == TOOL else ""
            self._by_key[call.kind, name, call.request.get("hash", "")].append(call)

    def take(self, kind: str, name: str, key: str) -> RecordedCall | None:
        waiting = self._by_key.get((kind, name if kind == TOOL else "", key))
        if not waiting:
            return None
        call = waiting.popleft()
        del self.calls[call]
        return call


class _LaneTape:
    """What is to come of one lane: its model calls in order, and the tools of each turn."""

    def __init__(self, models: list[list[RecordedCall]], tools: list[RecordedCall]) -> None:
        self.models = deque(map(_Group, models))
        turns: dict[int, list[RecordedCall]] = defaultdict(list)
        for call in tools:
            turns[call.iteration].append(call)
        self.tools = {iteration: _Group(calls) for iteration, calls in turns.items()}

    def take_model(self, name: str, key: str, *, anywhere: bool = False) -> RecordedCall | None:
        for group in list(self.models) if anywhere else list(self.models)[:1]:
            call = group.take(MODEL, name, key)
            if call is not None:
                if not group.calls:
                    self.models.remove(group)
                return call
        return None

    def take_tool(self, iteration: int, name: str, key: str) -> RecordedCall | None:
        group = self.tools.get(iteration)
        call = None if group is None else group.take(TOOL, name, key)
        if group is not None and not group.calls:
            del self.tools[iteration]
        return call

    def list_next(self, iteration: int | None = None) -> list[RecordedCall]:
        """The calls that are expected: the tools of the turn, or else the next model call."""
        if iteration is not None and iteration in self.tools:
            return list(self.tools[iteration].calls)
        return list(self.models[0].calls) if self.models else []

    def list_all(self) -> list[RecordedCall]:
        groups = [*self.models, *self.tools.values()]
        return [call for group in groups for call in group.calls]


@dataclass
class ForkEdits:
    """What a fork changes at its first live model call."""

    messages: list[Any] | None = None
    """All messages, instead of those there are."""
    system: str | None = None
    """Another system prompt."""
    message: EventData | None = None
    """A message to add."""
    is_held: bool = False


class ReplayTape(RecordedCalls):
    def __init__(
        self,
        home: SessionDirectory,
        mode: str = FULL,
        fork_at: int | None = None,
        fork_lane: str = MAIN,
    ) -> None:
        self._bodies = Values(ContentFiles(home.contents), Redaction(False))
        super().__init__(home, fork_at, fork_lane)
        self.mode = mode
        self.edits: dict[str, Any] = {}
        """Results to give instead of the recorded ones, by tool id."""
        self.fork_edits: ForkEdits | None = None
        self._has_forked = False
        self.diverged: Diverged | None = None
        self._lock = threading.Lock()
        self._models_inside: dict[RecordedCall, dict[str, int]] = defaultdict(dict)
        self._values: dict[tuple[str, str], deque[EventData]] = defaultdict(deque)
        self._waiting = self._group_calls()
        for lane, iteration, tool, data in self.values:
            is_inside = self.mode == FULL and tool is not None and not self.is_open(tool)
            if not is_inside and self.covers(lane, iteration):
                self._values[lane, str(data.get("name"))].append(data)

    # -- reading ---------------------------------------------------------------------------------

    def _group_calls(self) -> dict[str, _LaneTape]:
        """What will be called, lane by lane."""
        lanes: dict[str, list[RecordedCall]] = defaultdict(list)
        for call in self.calls:
            played = [tool for tool in self.find_ancestors(call) if not self.is_open(tool)]
            if self.mode == FULL and played:
                outermost = played[-1]
                if call.kind == MODEL:
                    inside = self._models_inside[outermost]
                    inside[call.lane] = max(inside.get(call.lane, 0), call.iteration)
                outermost.changes += call.changes
            elif self.covers(call.lane, call.iteration):
                lanes[call.lane].append(call)
        return {lane: self._build_lane(calls) for lane, calls in lanes.items()}

    def _build_lane(self, calls: list[RecordedCall]) -> _LaneTape:
        models = [call for call in calls if call.kind == MODEL]
        tools = [call for call in calls if call.kind == TOOL]
        if self._is_shared(calls):
            return _LaneTape([models], tools)
        return _LaneTape([[call] for call in models], tools)

    def _is_shared(self, calls: list[RecordedCall]) -> bool:
        """Whether several loops run in one lane: a model is called while something else goes on."""
        return any(MODEL in (one.kind, other.kind) for one, other in self._find_parallel(calls))

    def _find_parallel(
        self, calls: list[RecordedCall]
    ) -> Iterator[tuple[RecordedCall, RecordedCall]]:
        """Those that went on at the same time, and not one because of the other."""
        going_on: list[RecordedCall] = []
        for call in calls:
            began = seq_of(call.began)
            going_on = [one for one in going_on if one.ended is None or seq_of(one.ended) > began]
            ancestors = {outer.tool_id for outer in self.find_ancestors(call)}
            yield from ((one, call) for one in going_on if one.tool_id not in ancestors)
            going_on.append(call)

    # -- playing ---------------------------------------------------------------------------------

    @property
    def is_edited(self) -> bool:
        edits = self.fork_edits or ForkEdits()
        changes = (edits.messages, edits.system, edits.message)
        return bool(self.edits) or any(change is not None for change in changes)

    def take_fork_edits(self, lane: str) -> ForkEdits | None:
        """What is changed at the first live model call of the lane that is forked: once."""
        with self._lock:
            if self.fork_at is None or self._has_forked or lane != self.fork_lane:
                return None
            self._has_forked = True
        return self.fork_edits or ForkEdits()

    def take_changes(self, lane: str) -> list[tuple[str, EventData]]:
        """What the debugger had changed before the model call that comes now in this lane."""
        with self._lock:
            tape = self._waiting.get(lane)
            coming = next(iter(tape.list_next()), None) if tape is not None else None
            if coming is None:
                return []
            kinds = (MESSAGE_INJECTED, CONVERSATION_EDITED)
            taken = [event for event in coming.changes if event["type"] in kinds]
            coming.changes = [event for event in coming.changes if event not in taken]
        changed = {MESSAGE_INJECTED: "content", CONVERSATION_EDITED: "messages"}
        return [
            (event["type"], self._read_body_into(event["data"], changed[event["type"]]))
            for event in taken
        ]

    def list_variables(self, call: RecordedCall) -> list[EventData]:
        """The variables that the debugger had set before the call."""
        changes = [event for event in call.changes if event["type"] == VARIABLE_SET]
        return [self._read_body_into(event["data"], "value") for event in changes]

    def _read_body_into(self, data: EventData, name: str) -> EventData:
        return {**data, name: self.read_body(data.get(name))}

    def list_models_inside(self, call: RecordedCall) -> dict[str, int]:
        """The last model call that a tool made itself, in each lane."""
        return self._models_inside.get(call, {})

    def take_model(
        self, lane: str, name: str, key: str, request: Callable[[], Any], iteration: int
    ) -> RecordedCall:
        """The recorded call that this one is; `request` shows it, in case that it is not."""
        with self._lock:
            self._check_diverged()
            tape = self._waiting.get(lane)
            call = None if tape is None else tape.take_model(name, key)
            for other in self._list_similar(lane) if call is None else ():
                call = call or other.take_model(name, key, anywhere=self.is_old)
            if call is None:
                raise self._report(MODEL, lane, name, request, iteration, None)
            return call

    def take_tool(
        self,
        lane: str,
        turn: tuple[str, int],
        name: str,
        key: str,
        request: Callable[[], Any],
        iteration: int,
    ) -> RecordedCall:
        """`turn` is the recorded one that asked for it: its lane and iteration."""
        with self._lock:
            self._check_diverged()
            tape = self._waiting.get(turn[0])
            call = None if tape is None else tape.take_tool(turn[1], name, key)
            for other in self._list_similar(lane) if call is None else ():
                for each in list(other.tools) if self.is_old else [iteration]:
                    call = call or other.take_tool(each, name, key)
            if call is None:
                raise self._report(TOOL, lane, name, request, iteration, turn)
            return call

    def _check_diverged(self) -> None:
        if self.diverged is not None:
            # One thread has met it: the others do not go on, either.
            raise Diverged(str(self.diverged), self.diverged.details)

    def _list_similar(self, lane: str) -> list[_LaneTape]:
        """Where else it may be: agents that ran side by side may begin in another order now.

        In a recording without numbers of their own, lanes may have other names.
        """
        if self.is_old:
            return list(self._waiting.values())
        base = _NUMBER.sub("", lane)
        return [tape for name, tape in self._waiting.items() if _NUMBER.sub("", name) == base]

    def find_unplayed(self) -> RecordedCall | None:
        """The first call of the recording that the agent did not make."""
        waiting = [call for tape in self._waiting.values() for call in tape.list_all()]
        return min(waiting, key=lambda call: seq_of(call.began), default=None)

    def replay_outcome(self, call: RecordedCall, load: Any = None) -> Any:
        """What the call gave; raises what it raised."""
        details = {"kind": call.kind, "name": call.name, "iteration": call.iteration}
        if call.ended is None:
            raise self._report_stop(
                f"the recording ends inside {call} of iteration {call.iteration}: "
                "what came of it is not known",
                details,
            )
        outcome = call.outcome
        try:
            if outcome.get("isError"):
                raise self._bodies.restore_error(outcome)
            name = "response" if call.kind == MODEL else "result"
            return self._bodies.restore(outcome, name, load)
        except NotRestorable as problem:
            self.diverged = Diverged(
                f"{call} of iteration {call.iteration} cannot be replayed: {problem}", details
            )
            raise self.diverged from None

    def restore_value(self, data: EventData) -> Any:
        return self._bodies.restore(data, "value")

    def take_value(self, lane: str, name: str) -> EventData | None:
        """A recorded clock, id or random number; None when there are no more of them."""
        with self._lock:
            queue = self._values[lane, name]
            if queue:
                return queue.popleft()
        if self.fork_at is not None:
            return None
        details = {"kind": "value", "lane": lane, "name": name}
        message = f"the recording has no more values of {name!r}"
        if not self.is_whole:
            raise self._report_stop(f"{message}: it has no end", details)
        self.diverged = Diverged(message, details)
        raise self.diverged

    # -- divergence ------------------------------------------------------------------------------

    def _report(
        self,
        kind: str,
        lane: str,
        name: str,
        request: Callable[[], Any],
        iteration: int,
        turn: tuple[str, int] | None,
    ) -> Diverged:
        tape = self._waiting.get(lane if turn is None else turn[0])
        calls = [] if tape is None else self._list_expected(tape, turn)
        if not calls:
            return self._report_end(kind, lane, name, request, iteration)
        return self._report_difference(kind, lane, name, request, iteration, calls)

    def _list_expected(self, tape: _LaneTape, turn: tuple[str, int] | None) -> list[RecordedCall]:
        if turn is not None:
            return tape.list_next(turn[1])
        # A tool that was left out comes before the next model call.
        model = min((seq_of(call.began) for call in tape.list_next()), default=None)
        skipped = [
            call
            for call in tape.list_all()
            if call.kind == TOOL and (model is None or seq_of(call.began) < model)
        ]
        return skipped or tape.list_next()

    def _report_stop(self, message: str, details: EventData) -> Diverged:
        """Nothing is different: there is no more to play."""
        self.diverged = Diverged(message, {**details, "recordingEnded": True})
        return self.diverged

    def _report_end(
        self, kind: str, lane: str, name: str, request: Callable[[], Any], iteration: int
    ) -> Diverged:
        details: dict[str, Any] = {"kind": kind, "lane": lane, "name": name, "iteration": iteration}
        call = f"iteration {iteration}: the agent asks for {kind} {name}".rstrip()
        if not self.is_whole:
            return self._report_stop(f"{call}, and the recording ends before it", details)
        details |= {"expected": None, "found": {"name": name, "asked": request()}}
        self.diverged = Diverged(
            f"{call}, and the recording has no more calls", {**details, "difference": None}
        )
        return self.diverged

    def _report_difference(
        self,
        kind: str,
        lane: str,
        name: str,
        request: Callable[[], Any],
        iteration: int,
        calls: list[RecordedCall],
    ) -> Diverged:
        now = request()
        call = self._find_nearest(kind, name, now, calls)
        was = self._read_request(call)
        if call.kind == kind and (call.name == name or kind == MODEL):
            difference = describe_difference(was, now)
            message = (
                f"iteration {iteration}: {kind} {name} is asked for something else than in the "
                f"recording: {difference}"
            )
        else:
            difference = f"it was {call} and is {kind} {name}".rstrip()
            message = (
                f"iteration {iteration}: the agent asks for {kind} {name}, where the recording has "
                f"{call}"
            )
        details: dict[str, Any] = {"kind": kind, "lane": lane, "name": name, "iteration": iteration}
        details["expected"] = {"kind": call.kind, "name": call.name, "asked": was}
        details["found"] = {"kind": kind, "name": name, "asked": now}
        self.diverged = Diverged(message, {**details, "difference": difference})
        return self.diverged

    def _find_nearest(
        self, kind: str, name: str, now: Any, calls: list[RecordedCall]
    ) -> RecordedCall:
        same = [call for call in calls if call.kind == kind and call.name == name]
        same = same or [call for call in calls if call.kind == kind] or calls
        if len(same) == 1 or kind == MODEL or not isinstance(now, dict):
            return same[0]
        return max(same, key=lambda call: _count_equal(self._read_request(call), now))

    def _read_request(self, call: RecordedCall) -> Any:
        """The input of a tool; all of a model's messages, and its settings."""
        if call.kind == TOOL:
            return self.read_body(call.request.get("requested", call.request.get("input")))
        messages: list[Any] = []
        for earlier in self.calls:
            if earlier.kind == MODEL and lane_of(earlier.request) == lane_of(call.request):
                new = self.read_body(earlier.request.get("messages"))
                kept = int(earlier.request.get("messagesKept") or 0)
                messages = messages[:kept] + (new if isinstance(new, list) else [])
            if earlier is call:
                break
        return {
            "model": call.request.get("model"),
            "settings": self.read_body(call.request.get("settings")) or {},
            "messages": messages,
        }

    def read_body(self, value: Any) -> Any:
        """A body, wherever it is; what stands for it, if it cannot be read."""
        try:
            return self._bodies.read_body(value)
        except NotRestorable:
            return value


def _count_equal(one: Any, other: dict[str, Any]) -> int:
    if not isinstance(one, dict):
        return 0
    return sum(1 for name, value in other.items() if name in one and one[name] == value)
