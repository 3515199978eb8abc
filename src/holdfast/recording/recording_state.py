"""The state of an agent's session, reduced from the events of its recording.

`RecordingState.take` takes one event after the other. The bridge that goes on with a session, a
replay, the server, the command line and the export of spans all read recordings with it. Events
come from a file that anybody may have written: nothing about their fields is taken for granted.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from holdfast.model.agent_events import EVENTS, MAIN, EventData, RecordedEvent
from holdfast.recording.content_files import ContentFiles
from holdfast.recording.tail import Tail
from holdfast.wire import agent_lines

MODEL, TOOL = "model", "tool"
_KNOWN_TYPES = frozenset(EVENTS)


@dataclass(eq=False)
class RecordedRun:
    """One run of a loop."""

    lane: str
    began: RecordedEvent
    ended: RecordedEvent | None = None


@dataclass(eq=False)
class RecordedCall:
    """One call of a model or a tool."""

    kind: str
    """`model` or `tool`."""
    began: RecordedEvent
    changes: list[RecordedEvent] = field(default_factory=list)
    """Messages injected and variables set by the debugger, just before it."""
    result: EventData = field(default_factory=dict)
    """Of a tool: the fields of its `tool_result`."""
    ended: RecordedEvent | None = None

    def __post_init__(self) -> None:
        request = self.request
        self.lane = lane_of(request)
        self.iteration = _whole_number(request.get("iteration"))
        """Of a model call, its number in its lane; of a tool, that of the one that asked for it."""
        self.name = str(request.get("model" if self.kind == MODEL else "name") or "")
        self.tool_id = _optional_text(request.get("toolId"))

    @property
    def request(self) -> EventData:
        """The fields of the event that began it."""
        return self.began["data"]

    @property
    def outcome(self) -> EventData:
        """What came of it: the fields of the events that followed."""
        return self.result if self.ended is None else {**self.result, **self.ended["data"]}

    @property
    def within(self) -> str | None:
        """The id of the tool that made the call, when that was not the loop itself."""
        return _optional_text(self.request.get("within"))

    def __str__(self) -> str:
        return f"{self.kind} {self.name}".rstrip()


@dataclass(eq=False)
class RecordedStop:
    """A point where the loop waited for a decision."""

    id: str
    began: RecordedEvent
    ended: RecordedEvent | None = None

    @property
    def data(self) -> EventData:
        """The fields of its `paused` event."""
        return self.began["data"]

    @property
    def lane(self) -> str:
        return lane_of(self.data)

    @property
    def title(self) -> str:
        """What is held: `tool read_file`."""
        return f"{self.data.get('at')} {self.data.get('name') or ''}".rstrip()

    @property
    def number(self) -> int:
        """The 3 of `stop-3`; 0 for a name without a number."""
        number = self.id.rpartition("-")[2]
        return int(number) if number.isdecimal() else 0


Recorded = RecordedRun | RecordedCall | RecordedStop


@dataclass
class LaneState:
    """What is known of one agent of the process."""

    iteration: int = 0
    """That of its last model call."""
    count: int = 0
    """How many messages that had."""
    parent: str | None = None
    """The lane that called it."""
    within: str | None = None
    """The id of the tool inside which it began."""
    sent: list[Any] = field(default_factory=list)
    """The messages of its last model call."""
    received: list[Any] = field(default_factory=list)
    """What came since then, and will be in the next."""

    @property
    def messages(self) -> list[Any]:
        return [*self.sent, *self.received]


@dataclass
class EventCounts:
    """How many events of which type there are, the tokens that models used, and their cost."""

    types: Counter[str] = field(default_factory=Counter)
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    """Of the input tokens, those that the provider had in its cache."""
    cost: float | None = None
    """None as long as no call had a price."""
    unpriced: frozenset[str] = frozenset()
    """The models that used tokens and have no price."""

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def take(self, kind: str, event: RecordedEvent | None) -> None:
        """Count an event. Of a type whose content does not matter, the type is enough."""
        self.types[kind if kind in _KNOWN_TYPES else "other"] += 1
        usage = event["data"].get("usage") if event is not None else None
        if event is not None and isinstance(usage, dict):
            self.input_tokens += _whole_number(usage.get("inputTokens"))
            self.output_tokens += _whole_number(usage.get("outputTokens"))
            self.cached_tokens += _whole_number(usage.get("cachedTokens"))
            self._add_cost(event["data"])

    def _add_cost(self, data: EventData) -> None:
        cost = data.get("cost")
        if isinstance(cost, (int, float)) and not isinstance(cost, bool):
            self.cost = (self.cost or 0.0) + cost
        else:
            self.unpriced |= {str(data.get("model") or "")}

    def __add__(self, other: EventCounts) -> EventCounts:
        return EventCounts(
            self.types + other.types,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            other.cost if self.cost is None else self.cost + (other.cost or 0.0),
            self.unpriced | other.unpriced,
        )


class RecordingState:
    """Where a session is after the events that it has taken.

    With `contents`, large bodies are read from their files. Without `keeps_messages` conversations
    are not put together, which costs memory.
    """

    def __init__(
        self, contents: ContentFiles | None = None, *, keeps_messages: bool = True
    ) -> None:
        self._contents = contents
        self._keeps_messages = keeps_messages
        self.name = self.model = ""
        self.last_type: str | None = None
        self.is_over = False
        self.end_reason: str | None = None
        """How it ended: `exit`, `error` or `closed`."""
        self.iteration = 0
        """The newest that any event names."""
        self.counts = EventCounts()
        self.runs: list[RecordedRun] = []
        self.stops: dict[str, RecordedStop] = {}
        """What is held, by the name of the stop."""
        self.tools: dict[str, RecordedCall] = {}
        """The tools under way, by the id of the call."""
        self.models: dict[tuple[str, int], RecordedCall] = {}
        """The model calls under way, by lane and iteration."""
        self.breakpoints: dict[str, EventData] = {}
        self.rules: list[EventData] = []
        """Those of the agent's project."""
        self.lanes: dict[str, LaneState] = {MAIN: LaneState()}
        self.lane = MAIN
        """The one that called a model or was held last."""
        self._is_old = False
        """Whether iterations are counted for the whole process, as they once were."""
        self._injected: dict[str, list[RecordedEvent]] = {}
        self._variables: dict[str, list[RecordedEvent]] = {}

    @property
    def last_iteration(self) -> int:
        """That of the newest model call."""
        return max(lane.iteration for lane in self.lanes.values())

    @property
    def messages(self) -> list[Any]:
        """Of the lane that called a model or was held last."""
        return self._lane(self.lane).messages

    def status_of(self, lane: str) -> str:
        """`held`, `running`, or `idle` when it does nothing now."""
        if any(stop.lane == lane for stop in self.stops.values()):
            return "held"
        lanes = [run.lane for run in self.runs]
        lanes += [call.lane for call in (*self.models.values(), *self.tools.values())]
        return "running" if lane in lanes else "idle"

    # -- events ----------------------------------------------------------------------------------

    def skip(self, kind: str) -> None:
        """Count an event whose content does not matter to the reader."""
        self.last_type = kind
        self.counts.take(kind, None)

    def take(self, event: RecordedEvent) -> Recorded | None:
        """The run, call or stop that the event began, continued or ended."""
        data, kind = event["data"], event["type"]
        self.last_type = kind
        self.counts.take(kind, event)
        if isinstance(data.get("iteration"), int):
            self.iteration = data["iteration"]
        lane = lane_of(data)
        match kind:
            case "session_start":
                self._begin_session(data)
            case "session_end":
                self.is_over, self.end_reason = True, str(data.get("reason") or "exit")
                self._drop_open()
            case "lane_start":
                state, parent, inside = self._lane(lane), data.get("parent"), data.get("within")
                state.parent = parent if isinstance(parent, str) else None
                state.within = inside if isinstance(inside, str) else None
            case "run_start":
                self._lane(lane)
                self.runs.append(RecordedRun(lane, event))
                return self.runs[-1]
            case "run_end":
                return self._end_run(lane, event)
            case "api_request":
                return self._begin_model(lane, event)
            case "api_response":
                return self._end_model(lane, event)
            case "tool_call_start":
                call = RecordedCall(TOOL, event)
                if self._is_old:
                    self._translate_tool(call)
                call.changes = self._take_variables(call.lane)
                self.tools[str(call.tool_id)] = call
                return call
            case "tool_result":
                return self._take_result(event)
            case "tool_call_end":
                tool = self.tools.pop(str(data.get("toolId")), None)
                if tool is not None:
                    tool.ended = event
                return tool
            case "paused":
                return self._open_stop(lane, event)
            case "resumed":
                stop = self.stops.pop(str(data.get("stop")), None)
                if stop is not None:
                    stop.ended = event
                return stop
            case "message_injected":
                place = lane_of(_object(data.get("before")))
                self._injected.setdefault(place, []).append(event)
                self._receive(place, {"role": data.get("role"), "content": data.get("content")})
            case "conversation_edited":
                self._injected.setdefault(lane_of(_object(data.get("before"))), []).append(event)
            case "variable_set":
                place = lane_of(_object(data.get("before")))
                self._variables.setdefault(place, []).append(event)
            case "command_response" if data.get("type") == "breakpoint":
                self._change_breakpoints(_object(data.get("data")))
        return None

    def _begin_session(self, data: EventData) -> None:
        """A process begins the session or goes on with it: nothing of an earlier one is open."""
        self.name = str(data.get("name") or self.name)
        self.model = str(data.get("model") or self.model)
        self.is_over, self.end_reason = False, None
        self.breakpoints = {}
        self._is_old = "version" not in data
        self._change_breakpoints(data)
        self.rules = [rule for rule in _list(data.get("rules")) if isinstance(rule, dict)]
        self._drop_open()

    def _drop_open(self) -> None:
        self.runs, self.stops, self.tools, self.models = [], {}, {}, {}

    def _end_run(self, lane: str, event: RecordedEvent) -> RecordedRun | None:
        run = next((run for run in reversed(self.runs) if run.lane == lane), None)
        if run is not None:
            self.runs.remove(run)
            run.ended = event
        return run

    def _begin_model(self, lane: str, event: RecordedEvent) -> RecordedCall:
        changes = [*self._take_variables(lane), *self._injected.pop(lane, [])]
        call = RecordedCall(MODEL, event, changes)
        self.models[lane, call.iteration] = call
        self.model = str(call.request.get("model") or self.model)
        state = self._lane(lane)
        if self._keeps_messages:
            state.sent, state.received = self.complete_messages(lane, call.request), []
        if self._is_old:
            self._translate_model(call)
        self.lane = call.lane
        state = self._lane(call.lane)
        state.iteration = call.iteration or state.iteration
        state.count = _whole_number(call.request.get("messageCount"))
        return call

    def _take_variables(self, lane: str) -> list[RecordedEvent]:
        if not self._is_old:
            return self._variables.pop(lane, [])
        taken = [event for events in self._variables.values() for event in events]
        self._variables = {}
        return taken

    def _translate_model(self, call: RecordedCall) -> None:
        """What a tool calls inside itself once had the tool's lane; and lanes shared a count."""
        outer = self.tools.get(str(call.within))
        if outer is not None and outer.lane == call.lane:
            call.lane = outer.name
            self._lane(call.lane).parent = outer.lane
            self._lane(call.lane).within = outer.tool_id
        call.iteration = self._lane(call.lane).iteration + 1

    def _translate_tool(self, call: RecordedCall) -> None:
        outer = self.tools.get(str(call.within))
        if outer is not None and outer.lane == call.lane and outer.name in self.lanes:
            inner = self._lane(outer.name)
            if inner.within == outer.tool_id:
                call.lane = outer.name
        call.iteration = self._lane(call.lane).iteration

    def _end_model(self, lane: str, event: RecordedEvent) -> RecordedCall | None:
        data = event["data"]
        if not data.get("isError"):
            message = {"role": "assistant", "content": data.get("content")}
            if data.get("toolCalls"):
                message["tool_calls"] = data["toolCalls"]
            self._receive(lane, message)
        call = self.models.pop((lane, _whole_number(data.get("iteration"))), None)
        if call is not None:
            call.ended = event
        return call

    def _take_result(self, event: RecordedEvent) -> RecordedCall | None:
        data = event["data"]
        call = self.tools.get(str(data.get("toolId")))
        message = {"role": "tool", "name": data.get("name"), "content": data.get("result")}
        self._receive(self.lane if call is None else call.lane, message)
        if call is not None:
            call.result = data
        return call

    def _open_stop(self, lane: str, event: RecordedEvent) -> RecordedStop:
        data = event["data"]
        stop = RecordedStop(str(data.get("stop")), event)
        self.stops[stop.id] = stop
        self.lane = lane
        held = data.get("input")
        if self._keeps_messages and data.get("at") == MODEL and isinstance(held, dict):
            state = self._lane(lane)
            state.sent, state.received = self.complete_messages(lane, held), []
        return stop

    def _change_breakpoints(self, data: EventData) -> None:
        for point in [*_list(data.get("breakpoints")), data.get("breakpoint")]:
            if isinstance(point, dict):
                self.breakpoints[str(point.get("id"))] = point
        for cleared in _list(data.get("cleared")):
            self.breakpoints.pop(str(cleared), None)

    # -- messages --------------------------------------------------------------------------------

    def _lane(self, name: str) -> LaneState:
        return self.lanes.setdefault(name, LaneState())

    def _receive(self, lane: str, message: dict[str, object]) -> None:
        if self._keeps_messages:
            self._lane(lane).received.append(message)

    def complete_messages(self, lane: str, data: EventData) -> list[Any]:
        """All messages of a model call, of which `data` has those that the lane did not have."""
        new = self.read_body(data.get("messages"))
        kept = self._lane(lane).sent[: _whole_number(data.get("messagesKept"))]
        return kept + (new if isinstance(new, list) else [])

    def editable_input(self, stop: RecordedStop) -> Any:
        """What is held, as it can be edited: a tool's input, all messages of a model call."""
        given = self.read_body(stop.data.get("input"))
        if stop.data.get("at") != MODEL or not isinstance(given, dict):
            return given
        return {"messages": self.complete_messages(stop.lane, given)}

    def read_body(self, value: Any) -> Any:
        """A body, wherever it is; its preview, if it cannot be read."""
        if isinstance(value, dict) and agent_lines.CID in value:
            try:
                if self._contents is not None:
                    return json.loads(self._contents.get(str(value[agent_lines.CID])))
            except (KeyError, ValueError):
                pass  # the file is gone, or is not what it was
            return value.get("preview")
        return value


def lane_of(data: EventData) -> str:
    lane = data.get("lane")
    return lane if isinstance(lane, str) else MAIN


def seq_of(event: RecordedEvent) -> int:
    return _whole_number(event.get("seq"))


def read_events(tail: Tail) -> Iterator[RecordedEvent]:
    """Every event that is in the file now."""
    for _, line in tail.all():
        event = agent_lines.parse_event(line)
        if event is not None:
            yield event


def _whole_number(value: Any) -> int:
    return value if isinstance(value, int) else 0


def _optional_text(value: Any) -> str | None:
    return None if value is None else str(value)


def _object(value: Any) -> EventData:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
