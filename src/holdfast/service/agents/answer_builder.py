"""Builds the answers about agents: their status, what they hold, what happened to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.model.hold import Hold
from holdfast.model.session import State
from holdfast.service.agents.event_log import EventCounts
from holdfast.service.holds import hold_fields
from holdfast.wire import rest
from holdfast.wire.agent_answers import (
    AgentCounters,
    AgentHold,
    AgentStatus,
    AgentSummary,
    HeldStep,
)

if TYPE_CHECKING:
    from holdfast.service.agents import agent_session
    from holdfast.service.agents.agent_session import AgentSession

Json = dict[str, Any]
_ABOUT = ("cwd", "provider", "model", "parent", "replayOf", "mode", "forkAt")
_HELD = ("at", "name", "toolId", "iteration", "lane", "breakpoint")
_HELD_WHOLE = ("input", "error")


def status_fields(session: AgentSession) -> Json:
    """What every answer about an agent session begins with."""
    fields: Json = {
        "session_id": session.id,
        "status": session.state.value,
        "iteration": session.iteration,
        "holds": session.holds,
    }
    if session.state is State.PAUSED:
        held = next(reversed(session.held.values()))
        fields["hold_id"] = held.id
        fields["reason"] = held.data.get("reason")
        fields["held"] = [
            HeldStep(**_known(held.data, _HELD), stop=held.stop, hold_id=held.id)
            for held in session.held.values()
        ]
    elif session.over:
        fields["reason"] = session.reason
    return fields


def build_status(session: AgentSession) -> AgentStatus:
    return AgentStatus(**status_fields(session))


def build_summary(session: AgentSession) -> AgentSummary:
    summary = AgentSummary(
        **status_fields(session),
        **_known(session.about, _ABOUT),
        name=session.name,
        created_at=rest.timestamp(session.created_at),
        pid=session.pid,
        directory=str(session.home.path),
        last_event=session.log.seq,
        last_event_type=session.last_event,
    )
    if session.counts_before is not None:
        summary.counters = _build_counters(session, session.counts_before + session.counts)
    return summary


async def build_detail(session: AgentSession) -> AgentSummary:
    """The summary with its counters, which may have to be counted first."""
    counts = await session.counted()
    summary = build_summary(session)
    summary.counters = _build_counters(session, counts)
    return summary


def _build_counters(session: AgentSession, counts: EventCounts) -> AgentCounters:
    types = counts.types
    return AgentCounters(
        events=types.total(),
        model_calls=types["api_request"],
        tool_calls=types["tool_call_start"],
        holds=types["paused"],
        errors=types["error"],
        input_tokens=counts.input_tokens,
        output_tokens=counts.output_tokens,
        unreadable_lines=session.skipped,
    )


def build_hold(hold: Hold, held: agent_session.AgentHold, *, whole: bool) -> AgentHold:
    """`whole` with the input."""
    names = (*_HELD, *_HELD_WHOLE) if whole else _HELD
    return AgentHold(**hold_fields(hold), **_known(held.data, names), stop=held.stop)


def _known(data: Json, names: tuple[str, ...]) -> Json:
    """The fields that a recording has."""
    return {name: data[name] for name in names if data.get(name) is not None}


def event_json(session_id: str, event: Json) -> Json:
    """An event as its bridge wrote it, under the names that events of every kind have."""
    return {
        "seq": event["seq"],
        "session_id": session_id,
        "event": event["type"],
        "type": event["type"],
        "timestamp": event.get("timestamp"),
        "data": event["data"],
    }
