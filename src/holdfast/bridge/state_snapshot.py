"""What `inspect` shows of a loop."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from holdfast.bridge.recorded_values import encode_value
from holdfast.model import agent_events
from holdfast.model.agent_events import LaneSummary
from holdfast.recording.message_summary import (
    MessageRange,
    describe_context,
    summarize_messages,
)
from holdfast.wire import agent_lines

if TYPE_CHECKING:
    from holdfast.bridge.agent_bridge import Bridge
    from holdfast.bridge.agent_run import Run


def take_snapshot(
    bridge: Bridge, what: str, lane: str | None, shown_messages: MessageRange | None
) -> dict[str, Any]:
    shown = lane or _choose_lane(bridge)
    run = next(iter(bridge.list_runs(shown)), None)
    stops = [stop for stop in list(bridge.control.stops.values()) if lane in (None, stop.lane)]
    snapshot: dict[str, Any] = {
        "timestamp": agent_lines.format_timestamp(time.time()),
        "sessionId": bridge.id,
        "lane": shown,
        "iteration": bridge.lanes.get(shown).iteration,
        "paused": bool(stops),
        "lanes": list_lanes(bridge),
    }
    messages = _list_messages(bridge, shown, run)
    if what in ("messages", "all"):
        snapshot["messages"] = summarize_messages(messages, shown_messages, _show)
    if what in ("context", "all"):
        size = sum(len(bridge.values.encode(message)) for message in messages)
        limit, summary = (None, None) if run is None else (run.max_tokens, run.summary)
        snapshot["context"] = describe_context(size, limit, summary)
    if what in ("tools", "all"):
        enabled = list(run.tools) if run is not None and run.tools else list(bridge.tool_names)
        snapshot["tools"] = {"enabled": enabled, "count": len(enabled)}
    snapshot["provider"] = {"name": bridge.provider, "model": bridge.model_name}
    snapshot["workingSet"] = list(run.working_set) if run is not None else []
    if what == "all":
        snapshot["stops"] = [stop.about for stop in stops]
        snapshot["tokens"] = bridge.tokens
        if bridge.cost is not None:
            snapshot["cost"] = bridge.cost
        with_variables = bridge.find_run_with_variables(shown)
        if with_variables is None and lane is None:
            with_variables = bridge.find_run_with_variables()
        if with_variables is not None:
            snapshot["variables"] = list_variables(with_variables.vars)
    return snapshot


def describe_hold(bridge: Bridge) -> agent_events.StateSnapshot:
    """What the loop says twice a second while it is held."""
    return {
        "paused": True,
        "waiting": "resume",
        "iteration": bridge.lanes.get(_choose_lane(bridge)).iteration,
        "stops": list(bridge.control.stops),
    }


def _choose_lane(bridge: Bridge) -> str:
    """The lane that is held, a model call before a tool; else that of the innermost run."""
    stops = sorted(bridge.control.stops.values(), key=lambda stop: stop.call is None)
    if stops:
        return stops[0].lane
    return bridge.runs[-1].lane if bridge.runs else bridge.lanes.latest


def list_lanes(bridge: Bridge) -> list[LaneSummary]:
    held = {stop.lane for stop in list(bridge.control.stops.values())}
    summaries: list[LaneSummary] = []
    for lane in list(bridge.lanes.lanes.values()):
        is_running = bridge.lanes.is_running(lane)
        status = "held" if lane.name in held else "running" if is_running else "idle"
        summary: LaneSummary = {
            "lane": lane.name,
            "iteration": lane.iteration,
            "messages": len(lane.texts),
            "status": status,
        }
        if lane.parent is not None:
            summary["parent"] = lane.parent
        if lane.within is not None:
            summary["within"] = lane.within
        summaries.append(summary)
    return summaries


def _list_messages(bridge: Bridge, lane: str, run: Run | None) -> list[Any]:
    """Those of a held model call, else those that the loop said are its own; as JSON."""
    for stop in list(bridge.control.stops.values()):
        if stop.call is not None and stop.lane == lane:
            return list(stop.call.messages)
    if run is not None and run.messages is not None:
        return list(run.messages)
    return [json.loads(text) for text in list(bridge.lanes.get(lane).texts)]


def _show(message: Any) -> Any:
    return message if isinstance(message, dict) else json.loads(encode_value(message))


def list_variables(owner: Any) -> dict[str, Any]:
    variables = owner if isinstance(owner, Mapping) else getattr(owner, "__dict__", {})
    return {str(name): value for name, value in list(variables.items())}
