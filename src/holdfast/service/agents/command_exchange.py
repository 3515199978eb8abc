"""Sends commands to an agent and waits for their outcome: decisions, pauses, steps, inspections."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from holdfast import errors
from holdfast.core.decision_check import check_allowed, check_fields
from holdfast.core.ledger import Ledger
from holdfast.model.agent_commands import COMMANDS, EXPIRED, REJECTED
from holdfast.model.agent_events import (
    COMMAND_EXECUTED,
    COMMAND_RESPONSE,
    ERROR,
    EventData,
    RecordedEvent,
)
from holdfast.model.session_state import State
from holdfast.recording import command_sender
from holdfast.recording.content_files import ContentFiles
from holdfast.recording.recording_state import RecordingState
from holdfast.service.clock import read_clock
from holdfast.wire.session_requests import AgentStateQuery

if TYPE_CHECKING:
    from holdfast.service.agents.agent_registry import AgentRegistry
    from holdfast.service.agents.agent_session import AgentHold, AgentSession

_MAX_TIMEOUT = 300


@dataclass
class CommandOutcome:
    """`status` is accepted or applied; `response` is what the agent answered, if it did."""

    command_id: str
    status: str
    note: str | None = None
    response: dict[str, object] | None = field(default=None)


async def send_command(
    session: AgentSession, kind: str, data: Mapping[str, Any], timeout: float
) -> CommandOutcome:
    """Append it and wait for its acknowledgement, and its answer if it has one."""
    session.require_live()
    if kind not in COMMANDS:
        raise errors.InvalidInput(
            f"no command {kind!r:.100}", hint=f"There are: {', '.join(COMMANDS)}.", field="type"
        )
    command_id = f"cmd_{secrets.token_hex(6)}"
    answers = session.answers[command_id] = []
    try:
        try:
            command_sender.send_command(session.home, kind, data, command_id)
        except OSError as problem:
            raise errors.NotStored(
                f"the command cannot be written: {problem}", session_id=session.id
            ) from None
        await session.wait_until(lambda: _is_answered(kind, answers) or session.over, timeout)
        return _read_outcome(session, kind, command_id, answers, timeout)
    finally:
        session.answers.pop(command_id, None)


def _is_answered(kind: str, answers: list[RecordedEvent]) -> bool:
    return any(command_sender.is_final_answer(kind, event) for event in answers)


def _read_outcome(
    session: AgentSession,
    kind: str,
    command_id: str,
    answers: list[RecordedEvent],
    timeout: float,
) -> CommandOutcome:
    outcome = None
    for event in answers:
        data = event["data"]
        if event["type"] == ERROR:
            raise errors.CommandRejected(
                str(data.get("message") or "the agent rejected it"),
                session_id=session.id,
                command_id=command_id,
                status=REJECTED,
            )
        if event["type"] == COMMAND_EXECUTED:
            outcome = CommandOutcome(command_id, str(data.get("status")), data.get("note"))
        elif event["type"] == COMMAND_RESPONSE and outcome is not None:
            outcome.response = select_response(data)
    if outcome is None or not _is_answered(kind, answers):
        session.require_live()
        raise errors.AgentTimedOut(
            f"the agent did not answer the {kind} within {timeout:g} s",
            session_id=session.id,
            command_id=command_id,
            timeout=timeout,
        )
    if outcome.status == EXPIRED:
        raise errors.AlreadyDecided(
            f"too late to {kind}: {outcome.note or 'what it meant is over'}",
            session_id=session.id,
            command_id=command_id,
            state=session.state.value,
            possible=[],
        )
    return outcome


def select_response(data: EventData) -> dict[str, object]:
    """The fields of a `command_response` that answer the command."""
    return {name: value for name, value in data.items() if name not in ("commandId", "type")}


# -- decisions ------------------------------------------------------------------------------------


async def decide(
    agents: AgentRegistry,
    ledger: Ledger,
    hold_id: str,
    action: str,
    by: str,
    options: Mapping[str, Any],
    timeout: float,
) -> AgentHold:
    """Send a decision to the agent. The agent's events say how the hold was settled."""
    session, held = agents.get_hold(hold_id)
    hold = ledger.get(hold_id)
    check_allowed(hold, action)
    data = {"stop": held.stop, "by": by, **check_fields(hold.moment, action, options)}
    kind = "step" if action == "step" else "resume"
    if kind == "resume":
        data["action"] = action
    async with held.lock:
        ledger.get_open(hold_id)  # raises if another decision came first
        began = read_clock()
        try:
            await send_command(session, kind, data, timeout)
        except errors.WrongState:
            await _wait_released(session, held, timeout)
            ledger.get_open(hold_id)  # raises with the name of who decided, if known
            raise
        left = max(0.0, timeout - (read_clock() - began))
        if not await _wait_released(session, held, left):
            raise errors.AgentTimedOut(
                f"the agent took the decision but did not go on within {timeout:g} s",
                session_id=session.id,
                hold_id=hold_id,
                timeout=timeout,
            )
    return held


async def _wait_released(session: AgentSession, held: AgentHold, timeout: float) -> bool:
    """Wait until its events say that it is held no more."""
    return await session.wait_until(lambda: held.stop not in session.held, timeout)


def parse_timeout(options: Mapping[str, Any], default: float) -> float:
    """How long the agent may take, as a decision says it."""
    seconds = options.get("timeout", default)
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if not is_number or not 0 < seconds <= _MAX_TIMEOUT:
        raise errors.InvalidInput(
            f"timeout is a number of seconds, up to {_MAX_TIMEOUT}", field="timeout"
        )
    return float(seconds)


async def continue_all(
    agents: AgentRegistry, ledger: Ledger, session: AgentSession, by: str, timeout: float
) -> list[str]:
    """Continue everything that an agent holds. Holds that others decided meanwhile are left out."""

    async def decide_one(hold_id: str) -> str | None:
        try:
            await decide(agents, ledger, hold_id, "continue", by, {}, timeout)
        except (errors.WrongState, errors.NotFound, errors.TimedOut, errors.InvalidInput):
            return None
        return hold_id

    continued = await asyncio.gather(*map(decide_one, session.holds))
    return [hold_id for hold_id in continued if hold_id is not None]


# -- as programs are steered ----------------------------------------------------------------------


def list_held(session: AgentSession, lane: str | None, action: str) -> list[AgentHold]:
    """What the agent holds, in one lane or in all; an error if there is nothing."""
    session.require_live()
    held = [hold for hold in session.held.values() if lane in (None, hold.lane)]
    if held:
        return held
    where = "" if lane is None else f" in lane {lane:.100}"
    lanes = ", ".join(dict.fromkeys(hold.lane for hold in session.held.values()))
    raise errors.WrongState(
        f"cannot {action} session {session.id}: nothing is held{where}",
        hint=f"Held: {lanes}." if lanes else "POST its /pause first, or set a breakpoint.",
        session_id=session.id,
        kind=session.kind.value,
        state=session.state.value,
        possible=["pause", "command", "events"] if not session.held else ["decision", "continue"],
        holds=session.holds,
    )


async def step(session: AgentSession, lane: str | None, by: str, timeout: float) -> None:
    """One iteration of a lane, or of every lane: everything that it holds goes on."""
    stops = [hold.stop for hold in list_held(session, lane, "step")]
    await send_command(session, "step", {"by": by, **_name_lane(lane)}, timeout)
    await session.wait_until(lambda: not any(stop in session.held for stop in stops), timeout)


def _name_lane(lane: str | None) -> dict[str, str]:
    return {} if lane is None else {"lane": lane}


async def pause(session: AgentSession, lane: str | None, timeout: float, wait: float) -> bool:
    """Ask the agent to stop before its next model call. True once it has stopped."""

    def is_held() -> bool:
        return any(lane in (None, hold.lane) for hold in session.held.values())

    await send_command(session, "pause", _name_lane(lane), timeout)
    if wait:
        await session.wait_until(lambda: session.over or is_held(), wait)
    return session.state is State.PAUSED and is_held()


async def inspect(session: AgentSession, query: AgentStateQuery, timeout: float) -> object:
    pages = {"first": query.first, "count": query.count}
    data: dict[str, object] = {"what": query.what, **_name_lane(query.lane)}
    data |= {name: value for name, value in pages.items() if value is not None}
    outcome = await send_command(session, "inspect", data, timeout)
    state = (outcome.response or {}).get("data")
    # A large one is in a file of its own.
    contents = ContentFiles(session.home.contents)
    return await asyncio.to_thread(RecordingState(contents).read_body, state)
