"""Which agent an event is of, and how deep inside other agents and tools it happened."""

from __future__ import annotations

from typing import NamedTuple

from holdfast.model.agent_events import MAIN, EventData, RecordedEvent


class LanePlace(NamedTuple):
    """Where an event belongs when a run is shown as a tree."""

    lane: str
    depth: int
    """0 for the main agent, 1 for what a tool or agent of it does, and so on."""


class LaneTree:
    """Takes the events of a session in their order, and places each.

    What a tool does is one level below the tool. An agent is one level below the tool that runs it
    or, when none does, below the agent that it names as its parent; else below the main one.
    """

    def __init__(self) -> None:
        self._lanes: dict[str, int] = {MAIN: 0}
        self._tools: dict[str, LanePlace] = {}
        """The tools under way, by the id of the call."""
        self._models: dict[tuple[str, object], LanePlace] = {}
        """The model calls under way, by lane and iteration."""

    def take(self, event: RecordedEvent) -> LanePlace:
        data, kind = event["data"], event["type"]
        place = self._find_place(data, kind)
        if kind == "tool_call_start":
            self._tools[str(data.get("toolId"))] = place
        elif kind == "tool_call_end":
            self._tools.pop(str(data.get("toolId")), None)
        elif kind == "api_request":
            self._models[place.lane, data.get("iteration")] = place
        elif kind == "api_response":
            self._models.pop((place.lane, data.get("iteration")), None)
        return place

    def _find_place(self, data: EventData, kind: str) -> LanePlace:
        tool_id = data.get("toolId")
        if kind in ("tool_result", "tool_call_end") and str(tool_id) in self._tools:
            return self._tools[str(tool_id)]
        lane = data.get("lane")
        if not isinstance(lane, str):
            before = data.get("before")
            lane = before.get("lane") if isinstance(before, dict) else None
            lane = lane if isinstance(lane, str) else MAIN
        if kind == "api_response" and (lane, data.get("iteration")) in self._models:
            return self._models[lane, data.get("iteration")]
        outer = self._tools.get(str(data["within"])) if data.get("within") else None
        if outer is not None:
            if lane not in (MAIN, outer.lane):
                self._lanes[lane] = outer.depth + 1
            return LanePlace(lane, outer.depth + 1)
        if lane not in self._lanes or kind == "lane_start":
            parent = data.get("parent")
            self._lanes[lane] = self._lanes.get(parent if isinstance(parent, str) else MAIN, 0) + 1
        return LanePlace(lane, self._lanes[lane])
