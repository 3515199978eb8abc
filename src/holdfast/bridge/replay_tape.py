"""A recording to play from: what models and tools gave, in the order in which they were called.

Calls are matched by lane and order, and then their keys must agree. What may have run in parallel
(the tools of one turn, or several agents that share a lane) may come in another order now; each
finds its own by its key. What a tool called inside itself is not called again when the tool's own
result is played.
"""

from __future__ import annotations

import json
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from typing import Any

from holdfast.bridge.bridge_errors import Diverged
from holdfast.bridge.recorded_values import NotRestorable, Values
from holdfast.bridge.redaction import Redaction
from holdfast.model.agent_events import (
    MESSAGE_INJECTED,
    SESSION_END,
    VALUE_RECORDED,
    VARIABLE_SET,
    EventData,
)
from holdfast.recording.content_files import ContentFiles
from holdfast.recording.directories import SessionDirectory
from holdfast.recording.recording_state import (
    TOOL,
    RecordedCall,
    RecordingState,
    lane_of,
    read_events,
    seq_of,
)
from holdfast.recording.tail import Tail
from holdfast.wire import agent_lines

MODEL, FULL = "model", "full"
NOT_DONE = ("skip", "raise", "cancel", "deny")
"""Decisions by which a tool did not run."""


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


class ReplayTape:
    def __init__(
        self, home: SessionDirectory, mode: str = FULL, fork_at: int | None = None
    ) -> None:
        self.home = home
        self.mode = mode
        self.fork_at = fork_at
        self.edits: dict[str, Any] = {}
        """Results to give instead of the recorded ones, by tool id."""
        self.message: Any = None
        """What is added before the first live model call of a fork."""
        self.is_whole = False
        """Whether the recording has an end: that of a killed agent just stops."""
        self.diverged: Diverged | None = None
        self._bodies = Values(ContentFiles(home.contents), Redaction(False))
        self._lock = threading.Lock()
        self.calls: list[RecordedCall] = []
        self._outer: dict[RecordedCall, RecordedCall] = {}
        """The tool inside which a call was made."""
        self._models_inside: dict[RecordedCall, int] = defaultdict(int)
        self._values: dict[tuple[str, str], deque[EventData]] = defaultdict(deque)
        self._read()
        self._waiting = self._group_calls()

    # -- reading ---------------------------------------------------------------------------------

    def _read(self) -> None:
        state = RecordingState(keeps_messages=False)
        for event in read_events(Tail(self.home.events)):
            data = event["data"]
            changed = state.take(event)
            if isinstance(changed, RecordedCall) and changed.began is event:
                self.calls.append(changed)
            elif event["type"] == VALUE_RECORDED and (self.mode != FULL or "within" not in data):
                self._values[lane_of(data), str(data.get("name"))].append(data)
        self.is_whole = state.last_type == SESSION_END

    def _group_calls(self) -> dict[str, deque[_Group]]:
        """What will be called, lane by lane."""
        tools: dict[str, RecordedCall] = {}
        lanes: dict[str, list[RecordedCall]] = defaultdict(list)
        for call in self.calls:
            outer = tools.get(call.within) if call.within is not None else None
            if outer is not None:
                self._outer[call] = outer
            if call.tool_id is not None:
                tools[call.tool_id] = call
            if self.mode != FULL or outer is None:
                lanes[call.lane].append(call)
                continue
            while outer in self._outer:
                outer = self._outer[outer]
            self._models_inside[outer] += call.kind == MODEL
            outer.changes += call.changes
        return {lane: deque(map(_Group, self._group(calls))) for lane, calls in lanes.items()}

    def _group(self, calls: list[RecordedCall]) -> list[list[RecordedCall]]:
        """The calls of a lane, in order; those that may come in any order are together."""
        if self._is_shared(calls):
            return [calls]
        groups: list[list[RecordedCall]] = []
        for call in calls:
            # The tools of one turn may run in threads, and a quick one is over before the next
            # begins: nothing but the turn tells that their order is up to the scheduler.
            if call.kind == TOOL and groups and groups[-1][0].kind == TOOL:
                groups[-1].append(call)
            else:
                groups.append([call])
        return groups

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
            ancestors = {outer.tool_id for outer in self._find_ancestors(call)}
            yield from ((one, call) for one in going_on if one.tool_id not in ancestors)
            going_on.append(call)

    def _find_ancestors(self, call: RecordedCall) -> Iterator[RecordedCall]:
        """The tools inside which it was called."""
        while call in self._outer:
            call = self._outer[call]
            yield call

    @property
    def iterations(self) -> int:
        return max((call.iteration for call in self.calls), default=0)

    def side_effects(self) -> list[str]:
        """The tools of the recorded part of a fork that may have changed something outside."""
        ran = [
            call
            for call in self.calls
            if call.kind == TOOL and self.covers(call.iteration) and not call.request.get("pure")
        ]
        return sorted({call.name for call in ran if not self._was_prevented(call)})

    def _was_prevented(self, call: RecordedCall) -> bool:
        decision = self.read_decision(call.request)
        return decision is not None and decision.get("action") in NOT_DONE

    # -- playing ---------------------------------------------------------------------------------

    def covers(self, iteration: int) -> bool:
        """Whether the calls of this iteration come from here."""
        return self.fork_at is None or iteration <= self.fork_at

    def take_injected_messages(self, lane: str, iteration: int) -> list[EventData]:
        """What the debugger had put in before the model call that comes now in this lane."""
        if not self.covers(iteration):
            return []
        with self._lock:
            groups = self._waiting.get(lane)
            coming = next(iter(groups[0].calls)) if groups else None
            if coming is None or coming.kind != MODEL:
                return []
            taken = [event for event in coming.changes if event["type"] == MESSAGE_INJECTED]
            coming.changes = [event for event in coming.changes if event not in taken]
        return [self._read_body_into(event["data"], "content") for event in taken]

    def list_variables(self, call: RecordedCall) -> list[EventData]:
        """The variables that the debugger had set before the call."""
        changes = [event for event in call.changes if event["type"] == VARIABLE_SET]
        return [self._read_body_into(event["data"], "value") for event in changes]

    def _read_body_into(self, data: EventData, name: str) -> EventData:
        return {**data, name: self._read_body(data.get(name))}

    def read_decision(self, data: EventData) -> EventData | None:
        """What was decided of a call or of its error, as the fields of its event have it."""
        decision = self._read_body(data.get("decision"))
        return decision if isinstance(decision, dict) and "action" in decision else None

    def count_models_inside(self, call: RecordedCall) -> int:
        """The model calls that a tool made itself."""
        return self._models_inside.get(call, 0)

    def take_call(
        self,
        kind: str,
        lane: str,
        name: str,
        key: str,
        request: Callable[[], Any],
        iteration: int,
    ) -> RecordedCall:
        """The recorded call that this one is; `request` shows it, in case that it is not."""
        with self._lock:
            if self.diverged is not None:
                # One thread has met it: the others do not go on, either.
                raise Diverged(str(self.diverged), self.diverged.details)
            groups = self._waiting.get(lane)
            if not groups:
                raise self._report_end(kind, lane, name, request, iteration)
            call = groups[0].take(kind, name, key)
            if call is None:
                raise self._report_difference(kind, lane, name, request, iteration, groups[0])
            if not groups[0].calls:
                groups.popleft()
            return call

    def find_unplayed(self) -> RecordedCall | None:
        """The first call of the recording that the agent did not make."""
        waiting = [next(iter(groups[0].calls)) for groups in self._waiting.values() if groups]
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
        group: _Group,
    ) -> Diverged:
        now = request()
        call = self._find_nearest(kind, name, now, list(group.calls))
        was = self._read_request(call)
        if call.kind == kind and (call.name == name or kind == MODEL):
            difference = _describe_difference(was, now)
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
            return self._read_body(call.request.get("requested", call.request.get("input")))
        messages: list[Any] = []
        for earlier in self.calls:
            if earlier.kind == MODEL and earlier.lane == call.lane:
                new = self._read_body(earlier.request.get("messages"))
                kept = int(earlier.request.get("messagesKept") or 0)
                messages = messages[:kept] + (new if isinstance(new, list) else [])
            if earlier is call:
                break
        return {
            "model": call.request.get("model"),
            "settings": self._read_body(call.request.get("settings")) or {},
            "messages": messages,
        }

    def _read_body(self, value: Any) -> Any:
        try:
            return self._bodies.read_body(value)
        except NotRestorable:
            return value


def _count_equal(one: Any, other: dict[str, Any]) -> int:
    if not isinstance(one, dict):
        return 0
    return sum(1 for name, value in other.items() if name in one and one[name] == value)


def _describe_difference(expected: Any, now: Any, where: str = "") -> str:
    """The first place in which they differ, for people."""
    if type(expected) is type(now):
        if isinstance(expected, dict):
            for name in [*expected, *(name for name in now if name not in expected)]:
                inside = f"{where}.{name}" if where else str(name)
                if name not in now:
                    return f"{inside} is missing; it was {_shorten(expected[name])}"
                if name not in expected:
                    return f"{inside} is new: {_shorten(now[name])}"
                if expected[name] != now[name] and not agent_lines.is_random(name, now[name]):
                    return _describe_difference(expected[name], now[name], inside)
        if isinstance(expected, list):
            for at, (one, other) in enumerate(zip(expected, now)):  # noqa: B905 - lengths differ
                if agent_lines.loose_key(one) != agent_lines.loose_key(other):
                    return _describe_difference(one, other, f"{where}[{at}]")
            if len(expected) != len(now):
                return f"{where or 'it'} has {len(now)} items, not {len(expected)}"
    return f"{where or 'it'} was {_shorten(expected)} and is {_shorten(now)}"


def _shorten(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= 120 else f"{text[:117]}…"
