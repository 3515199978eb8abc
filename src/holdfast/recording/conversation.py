"""A run as a conversation: its turns in order, the tools of each, and what waits for a decision.

A turn is a model call and the tools that it asked for. `Conversation.take` takes one event after
the other, so that a run that goes on can be followed, and one that is over looked at as it was at
any of its events.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from holdfast.model.agent_events import MAIN, EventData, RecordedEvent
from holdfast.recording.content_files import ContentFiles
from holdfast.recording.lane_tree import LaneTree
from holdfast.recording.placed_data import read_data
from holdfast.recording.recording_state import (
    MODEL,
    RecordedCall,
    RecordedStop,
    RecordingState,
    lane_of,
    seq_of,
)
from holdfast.recording.run_totals import RunTotals
from holdfast.wire.message_text import SYSTEM_ARGUMENTS, SYSTEM_ROLES

log = logging.getLogger(__name__)
RUNNING, HELD, DONE, FAILED = "running", "held", "done", "error"
CANCELLED, DENIED, FAKED, UNFINISHED = "cancelled", "denied", "faked", "unfinished"


@dataclass(eq=False)
class ConversationCall:
    """A model call or a tool: it may be held before it begins, and again when it has failed."""

    began: RecordedEvent
    """The event with which it was first seen."""
    call: RecordedCall | None = None
    """None while it is held and has not begun."""
    stop: RecordedStop | None = None
    """The latest stop of it."""
    lanes: list[str] = field(default_factory=list)
    """Of a tool: the agents that began inside it."""

    def read_data(self) -> EventData:
        """The fields of the event that began it, or that says that it is held."""
        return read_data(self.began["data"] if self.call is None else self.call.request)

    def read_outcome(self) -> EventData:
        """The fields of what came of it."""
        if self.call is None:
            return {}
        ended = {} if self.call.ended is None else read_data(self.call.ended["data"])
        return {**read_data(self.call.result), **ended}

    @property
    def has_ended(self) -> bool:
        return self.call is not None and self.call.ended is not None

    @property
    def is_held(self) -> bool:
        return self.stop is not None and self.stop.ended is None

    def find_status(self, is_over: bool) -> str:
        """`is_over`: nothing more will come, because the agent has ended."""
        if self.call is None or self.call.ended is None:
            return UNFINISHED if is_over else HELD if self.is_held else RUNNING
        outcome = self.call.outcome
        if outcome.get("cancelled") or outcome.get("abandoned"):
            return CANCELLED
        if outcome.get("denied"):
            return DENIED
        if outcome.get("isError"):
            return FAILED
        return FAKED if outcome.get("faked") else DONE


@dataclass(eq=False)
class Turn:
    """A model call and its tools; or tools that no model call asked for."""

    number: int
    """From 1 on, over all lanes."""
    lane: str
    iteration: int
    depth: int
    """0 for the main agent, 1 for what a tool or agent of it does, and so on."""
    began: RecordedEvent
    model: ConversationCall | None = None
    tools: list[ConversationCall] = field(default_factory=list)


class Conversation:
    """The turns of a run, as far as its events were taken."""

    def __init__(self) -> None:
        self.state = RecordingState(keeps_messages=False)
        self.totals = RunTotals()
        self.turns: list[Turn] = []
        self.depths: dict[str, int] = {MAIN: 0}
        self.variables: dict[str, Any] = {}
        """Those that the debugger set: their bodies."""
        self.last_seq = 0
        self.skipped = 0
        """How many events could not be taken."""
        self._tree = LaneTree()
        self._latest: dict[tuple[str, int], Turn] = {}
        self._tools: dict[str, ConversationCall] = {}

    def take(self, event: RecordedEvent) -> None:
        """Anybody may have written the event: one that makes no sense is left out."""
        try:
            self._take(event)
        except Exception:
            if not self.skipped:
                log.warning("event %s of a recording is left out", seq_of(event), exc_info=True)
            self.skipped += 1

    def _take(self, event: RecordedEvent) -> None:
        self.last_seq = seq_of(event) or self.last_seq
        changed = self.state.take(event)
        self.totals.take(event, changed)
        place = self._tree.take(event)
        self.depths.setdefault(place.lane, place.depth)
        data = event["data"]
        if isinstance(changed, RecordedCall) and changed.began is event:
            self._begin(changed, place.depth)
        elif isinstance(changed, RecordedStop) and changed.began is event:
            self._hold(changed, place.depth)
        elif event["type"] == "lane_start" and data.get("within") is not None:
            tool = self._tools.get(str(data["within"]))
            if tool is not None and lane_of(data) not in tool.lanes:
                tool.lanes.append(lane_of(data))
        elif event["type"] == "variable_set":
            self.variables[str(data.get("key"))] = data.get("value")

    def _begin(self, call: RecordedCall, depth: int) -> None:
        if call.kind == MODEL:
            found = self._find_model(call.lane, call.iteration, call.began, depth)
        else:
            found = self._find_tool(str(call.tool_id), call.lane, call.iteration, call.began, depth)
        found.call = call

    def _hold(self, stop: RecordedStop, depth: int) -> None:
        data, iteration = stop.data, stop.data.get("iteration")
        number = iteration if isinstance(iteration, int) else 0
        if data.get("toolId") is not None:
            tool_id = str(data["toolId"])
            found = self._find_tool(tool_id, stop.lane, number, stop.began, depth)
        elif data.get("at") == "error":
            turn = self._latest.get((stop.lane, number))
            if turn is None or turn.model is None:
                return
            found = turn.model
        else:
            found = self._find_model(stop.lane, number, stop.began, depth)
        found.stop = stop

    def _find_model(
        self, lane: str, iteration: int, began: RecordedEvent, depth: int
    ) -> ConversationCall:
        """The model call that waited to begin; else a new one, with a turn of its own."""
        turn = self._latest.get((lane, iteration))
        if turn is not None and turn.model is not None and turn.model.call is None:
            return turn.model
        turn = self._add_turn(lane, iteration, began, depth)
        turn.model = ConversationCall(began)
        return turn.model

    def _find_tool(
        self, tool_id: str, lane: str, iteration: int, began: RecordedEvent, depth: int
    ) -> ConversationCall:
        known = self._tools.get(tool_id)
        is_same = known is not None and (not known.has_ended or began["type"] == "paused")
        if known is not None and is_same:
            return known
        turn = self._latest.get((lane, iteration))
        if turn is None:
            turn = self._add_turn(lane, iteration, began, depth)
        tool = self._tools[tool_id] = ConversationCall(began)
        turn.tools.append(tool)
        return tool

    def _add_turn(self, lane: str, iteration: int, began: RecordedEvent, depth: int) -> Turn:
        turn = Turn(len(self.turns) + 1, lane, iteration, depth, began)
        self._latest[lane, iteration] = turn
        self.turns.append(turn)
        return turn


# -- the messages of one model call ---------------------------------------------------------------


@dataclass(frozen=True)
class ModelRequest:
    """All that a model call was given."""

    event: RecordedEvent
    """Its `api_request`; while it is held, its `paused`."""
    messages: list[Any]
    settings: Any
    system: Any
    """The system prompt as it was sent; None if none is recorded."""
    system_place: str
    """Where it is: `messages`, `settings` or `call` (a place of the framework's own)."""


def find_request(
    events: Iterable[RecordedEvent], contents: ContentFiles, lane: str, iteration: int
) -> ModelRequest | None:
    """What a model call was given, with those messages that an earlier event has."""
    state = RecordingState(contents)
    stop: RecordedStop | None = None
    for event in events:
        changed = state.take(event)
        if isinstance(changed, RecordedCall) and changed.began is event:
            if (changed.kind, changed.lane, changed.iteration) == (MODEL, lane, iteration):
                return _build_request(event, state, lane_of(changed.request), stop)
        elif isinstance(changed, RecordedStop) and changed.began is event:
            data = changed.data
            if (data.get("at"), changed.lane, data.get("iteration")) == (MODEL, lane, iteration):
                stop = changed
    if stop is None or stop.ended is not None:
        return None
    return _build_request(stop.began, state, lane, stop)


def _build_request(
    event: RecordedEvent, state: RecordingState, lane: str, stop: RecordedStop | None
) -> ModelRequest:
    messages = state.lanes[lane].messages
    settings = state.read_body(event["data"].get("settings"))
    for message in messages:
        if isinstance(message, dict) and message.get("role") in SYSTEM_ROLES:
            return ModelRequest(event, messages, settings, message.get("content"), "messages")
    for name in SYSTEM_ARGUMENTS:
        if isinstance(settings, dict) and settings.get(name) is not None:
            return ModelRequest(event, messages, settings, settings[name], "settings")
    system = None if stop is None else state.read_body(stop.data.get("system"))
    return ModelRequest(event, messages, settings, system, "call")
