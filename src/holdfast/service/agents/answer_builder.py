"""Answers about agents, built from their sessions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import UNSET

from holdfast.model.agent_events import RecordedEvent
from holdfast.model.hold import Hold
from holdfast.model.session_state import State
from holdfast.recording.recording_state import EventCounts, LaneState, RecordingState
from holdfast.service.holds import hold_fields
from holdfast.wire import agent_answers as answers
from holdfast.wire import rest
from holdfast.wire.agent_answers import (
    AgentCounters,
    AgentLane,
    AgentStatus,
    AgentStop,
    AgentSummary,
)
from holdfast.wire.described import none_to_unset

if TYPE_CHECKING:
    from holdfast.service.agents.agent_session import AgentHold, AgentSession
    from holdfast.wire.session_answers import Event

Status = TypeVar("Status", bound=AgentStatus)
_MAX_LINE = 80
_MAX_INPUT_TEXT = 1_000_000
# Fields of `session.json`, and the fields of the answer that show them.
_METADATA = {
    **{name: name for name in ("cwd", "provider", "model", "parent", "mode", "edited")},
    "replayOf": "replay_of",
    "startedBy": "started_by",
    "forkAt": "fork_at",
    "forkLane": "fork_lane",
    "replayRun": "run",
    "endTime": "ended_at",
}


def build_status(session: AgentSession, kind: type[Status], **more: Any) -> Status:
    """Where the session's agent is; `more` are the fields that this kind of answer adds."""
    fields: dict[str, Any] = {
        "session_id": session.id,
        "status": session.state.value,
        "iteration": session.iteration,
        "holds": session.holds,
    }
    if session.knows_lanes:
        fields["lanes"] = [
            build_lane(session.recorded, name, lane) for name, lane in session.lanes.items()
        ]
    if session.state is State.PAUSED:
        newest = next(reversed(session.held.values()))
        fields["hold_id"] = newest.id
        fields["reason"] = newest.data.get("reason")
        fields["held"] = [build_stop(hold) for hold in session.held.values()]
    elif session.over:
        fields["reason"] = session.reason
    return kind(**fields | more)


def build_summary(session: AgentSession, counts: EventCounts | None) -> AgentSummary:
    metadata = {
        _METADATA[name]: value
        for name, value in session.about.items()
        if name in _METADATA and value is not None
    }
    if rules := list_rules(session):
        metadata["rules"] = rules
    return build_status(
        session,
        AgentSummary,
        name=session.name,
        created_at=rest.timestamp(session.created_at),
        pid=session.pid,
        directory=str(session.home.path),
        last_event=session.log.seq,
        last_event_type=session.recorded.last_type,
        counters=UNSET if counts is None else build_counters(session, counts),
        **metadata,
    )


def list_rules(session: AgentSession) -> list[dict[str, object]]:
    """Those that its metadata names: anybody may have written the file."""
    rules = session.about.get("rules")
    return [rule for rule in rules if isinstance(rule, dict)] if isinstance(rules, list) else []


def build_counters(session: AgentSession, counts: EventCounts) -> AgentCounters:
    types = counts.types
    return AgentCounters(
        events=types.total(),
        model_calls=types["api_request"],
        tool_calls=types["tool_call_start"],
        holds=types["paused"],
        errors=types["error"],
        input_tokens=counts.input_tokens,
        output_tokens=counts.output_tokens,
        cached_tokens=counts.cached_tokens,
        cost=counts.cost,
        unpriced_models=[] if counts.cost is None else sorted(counts.unpriced),
        unreadable_lines=session.skipped,
    )


def build_lane(recorded: RecordingState, name: str, lane: LaneState) -> AgentLane:
    return AgentLane(
        lane=name,
        iteration=lane.iteration,
        messages=lane.count,
        status="idle" if recorded.is_over else recorded.status_of(name),
        parent=none_to_unset(lane.parent),
        within=none_to_unset(lane.within),
    )


def build_stop(hold: AgentHold) -> AgentStop:
    return AgentStop(**_stop_fields(hold))


def build_hold(hold: Hold, held: AgentHold, *, whole: bool) -> answers.AgentHold:
    """Describe a hold. With `whole`, include what the agent is about to do."""
    names = ("input", "error") if whole else ()
    more = {name: held.data[name] for name in names if held.data.get(name) is not None}
    return answers.AgentHold(**hold_fields(hold) | _stop_fields(held) | more)


def format_input(body: object) -> str | None:
    """JSON as people read and change it; None if it is very long."""
    text = json.dumps(body, ensure_ascii=False)
    if len(text) > _MAX_LINE:
        text = json.dumps(body, ensure_ascii=False, indent=2)
    return None if len(text) > _MAX_INPUT_TEXT else text


def _stop_fields(hold: AgentHold) -> dict[str, Any]:
    fields = {
        name: hold.data[name]
        for name in ("at", "name", "iteration", "lane", "breakpoint", "rule")
        if hold.data.get(name) is not None
    }
    if hold.data.get("toolId") is not None:
        fields["tool_id"] = hold.data["toolId"]
    return {**fields, "stop": hold.stop, "hold_id": hold.id}


def build_event(session_id: str, event: RecordedEvent) -> Event:
    """An event as its bridge wrote it, under the names that events of every kind have."""
    return {
        "seq": event["seq"],
        "session_id": session_id,
        "event": event["type"],
        "type": event["type"],
        "timestamp": event.get("timestamp"),
        "data": event["data"],
    }
