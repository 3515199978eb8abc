"""Commands to an agent and what became of them: decisions, pauses, steps, looks into its state."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from holdfast import errors
from holdfast.core.decision_check import check_allowed, check_fields
from holdfast.core.ledger import Ledger
from holdfast.model.agent_commands import COMMANDS, EXPIRED, REJECTED
from holdfast.model.agent_events import RecordedEvent
from holdfast.model.session_state import State
from holdfast.recording import command_sender

if TYPE_CHECKING:
    from holdfast.service.agents.agent_registry import AgentRegistry
    from holdfast.service.agents.agent_session import AgentHold, AgentSession

Json = dict[str, Any]


@dataclass
class CommandOutcome:
    """`status` is accepted or applied; `response` is what the agent answered, if it did."""

    command_id: str
    status: str
    note: str | None = None
    response: Json | None = field(default=None)


async def send_command(
    session: AgentSession, kind: str, data: Json, patience: float
) -> CommandOutcome:
    """Append it and wait for its acknowledgement, and its answer if it has one."""
    session.require_live()
    if kind not in COMMANDS:
        raise errors.InvalidInput(
            f"no command {kind!r:.100}", hint=f"There are: {', '.join(COMMANDS)}.", field="type"
        )
    command_id = f"cmd_{secrets.token_hex(6)}"
    said = session.answers[command_id] = []
    try:
        try:
            command_sender.send_command(session.home, kind, data, command_id)
        except OSError as problem:
            raise errors.NotStored(
                f"the command cannot be written: {problem}", session_id=session.id
            ) from None
        await session.wait_until(lambda: _is_answered(kind, said) or session.over, patience)
        return _outcome(session, kind, command_id, said, patience)
    finally:
        session.answers.pop(command_id, None)


def _is_answered(kind: str, said: list[RecordedEvent]) -> bool:
    return any(command_sender.is_final_answer(kind, event) for event in said)


def _outcome(
    session: AgentSession, kind: str, command_id: str, said: list[RecordedEvent], patience: float
) -> CommandOutcome:
    outcome = None
    for event in said:
        data = event["data"]
        if event["type"] == "error":
            raise errors.CommandRejected(
                str(data.get("message") or "the agent rejected it"),
                session_id=session.id,
                command_id=command_id,
                status=REJECTED,
            )
        if event["type"] == "command_executed":
            outcome = CommandOutcome(command_id, str(data.get("status")), data.get("note"))
        elif event["type"] == "command_response" and outcome is not None:
            outcome.response = {
                name: value for name, value in data.items() if name not in ("commandId", "type")
            }
    if outcome is None or not _is_answered(kind, said):
        session.require_live()
        raise errors.AgentTimedOut(
            f"the agent did not answer the {kind} within {patience:g} s",
            session_id=session.id,
            command_id=command_id,
            timeout=patience,
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


# -- decisions ------------------------------------------------------------------------------------


async def decide(
    agents: AgentRegistry,
    ledger: Ledger,
    hold_id: str,
    action: str,
    by: str,
    options: Mapping[str, Any],
    patience: float,
) -> tuple[AgentSession, AgentHold]:
    """Settle a hold by way of its agent: what that says is how it ended."""
    session, held = agents.held(hold_id)
    hold = ledger.get(hold_id)
    check_allowed(hold, action)
    fields = check_fields(hold.moment, action, options)
    messages = fields.pop("messages", None)
    if messages is not None:
        fields.setdefault("input", {"messages": messages})
    data = {"stop": held.stop, "by": by, **fields}
    kind = "step" if action == "step" else "resume"
    if kind == "resume":
        data["action"] = action
    async with held.lock:
        ledger.get_open(hold_id)  # somebody may have been first
        began = time.monotonic()
        try:
            await send_command(session, kind, data, patience)
        except errors.WrongState:
            await _told(session, held, patience)
            ledger.get_open(hold_id)  # says who was first, if that is known
            raise
        left = max(0.0, patience - (time.monotonic() - began))
        if not await _told(session, held, left):
            raise errors.AgentTimedOut(
                f"the agent took the decision but did not go on within {patience:g} s",
                session_id=session.id,
                hold_id=hold_id,
                timeout=patience,
            )
    return session, held


async def _told(session: AgentSession, held: AgentHold, patience: float) -> bool:
    """Wait until its events say that it is held no more."""
    return await session.wait_until(lambda: held.stop not in session.held, patience)


def parse_timeout(options: Mapping[str, Any], default: float) -> float:
    """How long the agent may take, as a decision says it."""
    seconds = options.get("timeout", default)
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds <= 300:
        raise errors.InvalidInput("timeout is a number of seconds, up to 300", field="timeout")
    return float(seconds)


async def continue_all(
    agents: AgentRegistry, ledger: Ledger, session_id: str | None, by: str, patience: float
) -> list[str]:
    """Continue whatever agents hold; those that somebody else decided meanwhile are left out."""
    waiting = [
        hold_id
        for session in agents.sessions.values()
        if session_id is None or session.id == session_id
        for hold_id in session.holds
    ]

    async def one(hold_id: str) -> str | None:
        try:
            await decide(agents, ledger, hold_id, "continue", by, {}, patience)
        except (errors.WrongState, errors.NotFound, errors.TimedOut, errors.InvalidInput):
            return None
        return hold_id

    done = await asyncio.gather(*map(one, waiting))
    return [each for each in done if each is not None]


# -- as programs are steered ----------------------------------------------------------------------


def get_only_hold(session: AgentSession, action: str) -> AgentHold:
    """What the agent holds, if it is one thing."""
    session.require_live()
    held = list(session.held.values())
    if len(held) == 1:
        return held[0]
    if not held:
        message, hint = "nothing is held", "POST its /pause first, or set a breakpoint."
    else:
        message = f"{len(held)} stops are held"
        hint = f"Decide one: POST /api/holds/…/decision, of {', '.join(session.holds)}."
    raise errors.WrongState(
        f"cannot {action} session {session.id}: {message}",
        hint=hint,
        session_id=session.id,
        kind=session.kind.value,
        state=session.state.value,
        possible=["pause", "command", "events"] if not held else ["decision", "continue"],
        holds=session.holds,
    )


async def pause(session: AgentSession, patience: float, wait: float) -> bool:
    """Ask it to stop before its next model call; True once it has."""
    await send_command(session, "pause", {}, patience)
    if wait:
        await session.wait_until(lambda: session.settled, wait)
    return session.state is State.PAUSED


async def inspect(session: AgentSession, what: str, patience: float) -> Any:
    outcome = await send_command(session, "inspect", {"what": what}, patience)
    return (outcome.response or {}).get("data")
