"""Agents, what they hold and what happened to them, as clients see it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.model.session import State
from holdfast.service.agents.event_log import EventCounts
from holdfast.wire import rest

if TYPE_CHECKING:
    from holdfast.service.agents.agent_session import AgentHold, AgentSession

Json = dict[str, Any]
_ABOUT = ("cwd", "provider", "model", "parent", "replayOf", "mode", "forkAt")
_HELD = ("stop", "at", "name", "toolId", "iteration", "lane", "breakpoint")
_HELD_WHOLE = ("input", "error")


def state_json(session: AgentSession) -> Json:
    """Its status, and what belongs to it."""
    shown: Json = {
        "session_id": session.id,
        "status": session.state.value,
        "kind": session.kind.value,
        "iteration": session.iteration,
        "holds": session.holds,
    }
    if session.state is State.PAUSED:
        held = next(reversed(session.held.values()))
        shown["hold_id"] = held.id
        shown["reason"] = held.data.get("reason")
        shown["held"] = [held_json(each) for each in session.held.values()]
    elif session.over:
        shown["reason"] = session.reason
    return shown


def summary_json(session: AgentSession) -> Json:
    """In a list."""
    shown = {
        **state_json(session),
        "name": session.name,
        "created_at": rest.timestamp(session.created_at),
        "pid": session.pid,
        "directory": str(session.home.path),
        "last_event": session.log.seq,
        "last_event_type": session.last_event,
    }
    shown |= {each: session.about[each] for each in _ABOUT if session.about.get(each) is not None}
    if session.counts_before is not None:
        shown["counters"] = counters_json(session, session.counts_before + session.counts)
    return shown


async def detail_json(session: AgentSession) -> Json:
    """On its own: counted, if it was not yet."""
    counts = await session.counted()
    return {**summary_json(session), "counters": counters_json(session, counts)}


def counters_json(session: AgentSession, counts: EventCounts) -> Json:
    types = counts.types
    return {
        "events": types.total(),
        "model_calls": types["api_request"],
        "tool_calls": types["tool_call_start"],
        "holds": types["paused"],
        "errors": types["error"],
        "input_tokens": counts.input_tokens,
        "output_tokens": counts.output_tokens,
        "unreadable_lines": session.skipped,
    }


def held_json(held: AgentHold, *, whole: bool = False) -> Json:
    """What a hold of an agent holds; `whole` with the input."""
    names = (*_HELD, *_HELD_WHOLE) if whole else _HELD
    shown = {each: held.data[each] for each in names if held.data.get(each) is not None}
    return {**shown, "stop": held.stop, "hold_id": held.id}


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
