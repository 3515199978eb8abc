"""The state of an agent as its recording has it: what `inspect` shows, without asking the agent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from holdfast.model.agent_events import RecordedEvent
from holdfast.recording.content_files import ContentFiles
from holdfast.recording.message_summary import (
    MessageRange,
    describe_context,
    summarize_messages,
)
from holdfast.recording.recording_state import MODEL, RecordedCall, RecordingState
from holdfast.wire import agent_lines


def take_recorded_snapshot(
    session_id: str,
    events: Iterable[RecordedEvent],
    contents: ContentFiles,
    what: str,
    lane: str | None,
    shown_messages: MessageRange | None,
) -> dict[str, Any] | list[str]:
    """The state after the last event; the names of the lanes, if the one that is meant is none."""
    state = RecordingState(contents)
    timestamp: Any = None
    provider: Any = None
    variables: dict[str, Any] = {}
    tools: dict[str, None] = {}
    for event in events:
        changed = state.take(event)
        timestamp, data = event.get("timestamp"), event["data"]
        provider = data.get("provider") or provider
        if event["type"] == "variable_set":
            variables[str(data.get("key"))] = state.read_body(data.get("value"))
        elif isinstance(changed, RecordedCall) and changed.tool_id is not None:
            tools[changed.name] = None
    if lane is not None and lane not in state.lanes:
        return list(state.lanes)
    shown = lane or _choose_lane(state)
    stops = [stop for stop in state.stops.values() if lane in (None, stop.lane)]
    messages = state.lanes[shown].messages
    snapshot: dict[str, Any] = {
        "timestamp": timestamp,
        "sessionId": session_id,
        "lane": shown,
        "iteration": _find_iteration(state, shown),
        "paused": bool(stops),
        "lanes": list_lanes(state),
        "provider": {"name": provider, "model": state.model or None},
    }
    if what in ("messages", "all"):
        snapshot["messages"] = summarize_messages(messages, shown_messages)
    if what in ("context", "all"):
        size = sum(len(agent_lines.encode_json(message)) for message in messages)
        snapshot["context"] = describe_context(size, None, None)
    if what in ("tools", "all"):
        snapshot["tools"] = {"enabled": list(tools), "count": len(tools)}
    if what == "all":
        snapshot["stops"] = [dict(stop.data) for stop in stops]
        snapshot["tokens"] = state.counts.tokens
        if state.counts.cost is not None:
            snapshot["cost"] = state.counts.cost
        snapshot["variables"] = variables
    return snapshot


def _choose_lane(state: RecordingState) -> str:
    """The lane that is held, a model call before a tool; else the one that was the last to act."""
    stops = sorted(state.stops.values(), key=lambda stop: stop.data.get("at") != MODEL)
    return stops[0].lane if stops else state.lane


def list_lanes(state: RecordingState) -> list[dict[str, Any]]:
    lanes = []
    for name, lane in state.lanes.items():
        summary: dict[str, Any] = {
            "lane": name,
            "iteration": _find_iteration(state, name),
            "messages": lane.count,
            "status": "idle" if state.is_over else state.status_of(name),
        }
        summary |= {"parent": lane.parent} if lane.parent is not None else {}
        summary |= {"within": lane.within} if lane.within is not None else {}
        lanes.append(summary)
    return lanes


def _find_iteration(state: RecordingState, lane: str) -> int:
    """That of its last model call, or of the one that is held."""
    held = [stop.data.get("iteration") for stop in state.stops.values() if stop.lane == lane]
    numbers = [number for number in held if isinstance(number, int)]
    return max([state.lanes[lane].iteration, *numbers])
