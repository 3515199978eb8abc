"""Makes a decision about a hold, and waits for what comes of it.

Of a call and of a tool that is what it returned or raised; of a program, where it stops next.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from holdfast import errors
from holdfast.core.decision_check import check_allowed
from holdfast.model.decision import Moment
from holdfast.model.hold import Hold
from holdfast.model.session_state import Kind
from holdfast.service.agents.agent_session import AgentSession
from holdfast.service.clock import read_clock
from holdfast.service.run_options import RunOptions
from holdfast.service.session import DecisionRequest
from holdfast.service.tools.holds.decision_fields import build_fields
from holdfast.service.tools.holds.held_targets import name_function
from holdfast.service.tools.holds.shown_texts import show_json, show_text, show_value
from holdfast.service.tools.reports.report_builder import build_report
from holdfast.service.tools.tool_client import ToolClient
from holdfast.wire.agent_answers import AgentHold
from holdfast.wire.call_answers import CallDecisionAnswer, CallDetail
from holdfast.wire.hold_reports import FIELDS_OF, HoldOutcome, join_fields
from holdfast.wire.message_text import format_answer, format_result
from holdfast.wire.tool_requests import DecideHold

if TYPE_CHECKING:
    from holdfast.service.debugger import Debugger

_NO_MORE = "It runs on. hold_list(wait=…) waits for the next hold."
_REJECTED = "Invalid command: "
_EVENTS = 1000
_END_TYPES = frozenset(("tool_result", "tool_call_end", "api_response"))
# Fields as targets know them, and as the clients of the tools do.
_TOOL_NAMES = {
    "modified_kwargs": "args",
    "modified_args": "args",
    "input": "args",
    "fake_result": "value",
    "result": "value",
    "exception_type": "exception",
    "exception_message": "message",
    "function_name": "function",
    "content": "message",
}
_TARGET_NAMES = re.compile(rf"\b({'|'.join(_TOOL_NAMES)})\b(?=[.:`])")


async def decide_and_watch(
    debugger: Debugger, client: ToolClient, request: DecideHold
) -> HoldOutcome:
    """Settle the hold. The answer has what came of it within the request's timeout."""
    hold = debugger.holds.get_open(request.hold_id)
    check_allowed(hold, request.action)
    fields = build_fields(hold, request)
    decision = DecisionRequest(request.action, RunOptions(by=client.name), fields)
    try:
        match hold.kind:
            case Kind.PROGRAM:
                return await _decide_stop(debugger, client, hold, decision, request.timeout)
            case Kind.CALLS:
                return await _decide_call(debugger, hold, decision, request.timeout)
            case Kind.AGENT:
                return await _decide_agent(debugger, hold, decision, request.timeout)
    except (errors.InvalidDecision, errors.CommandRejected) as problem:
        raise _translate(problem, request.action) from None


def _translate(problem: errors.InvalidInput, action: str) -> errors.InvalidDecision:
    """The same problem, in the names of the tool's fields."""

    def rename(text: str) -> str:
        return _TARGET_NAMES.sub(lambda found: _TOOL_NAMES[found[1]], text)

    details = {**problem.details, "valid": list(FIELDS_OF.get(action, ()))}
    if isinstance(details.get("field"), str):
        details["field"] = rename(f"{details['field']}:")[:-1]
    hint = "" if "takes `" in problem.hint else rename(problem.hint)
    if problem.hint == problem.default_hint:
        hint = ""
    hint = f"{action} takes {join_fields(action)}. {hint}"
    message = rename(problem.message.removeprefix(_REJECTED))
    return errors.InvalidDecision(message, hint=hint.strip(), **details)


# -- programs -------------------------------------------------------------------------------------


async def _decide_stop(
    debugger: Debugger, client: ToolClient, hold: Hold, decision: DecisionRequest, timeout: float
) -> HoldOutcome:
    await debugger.holds.decide(hold.id, decision)
    program = debugger.sessions.get(hold.session_id).program
    await program.wait_until_settled(timeout)
    report = await build_report(program, client)
    return HoldOutcome(
        hold_id=hold.id,
        session_id=hold.session_id,
        action=decision.action,
        status=report.status,
        report=report,
    )


# -- calls ----------------------------------------------------------------------------------------


async def _decide_call(
    debugger: Debugger, hold: Hold, decision: DecisionRequest, timeout: float
) -> HoldOutcome:
    answer = await debugger.holds.decide(hold.id, decision)
    assert isinstance(answer, CallDecisionAnswer)
    session, calls = debugger.sessions.get(hold.session_id), debugger.calls
    others = {each.id for each in debugger.holds.list_open(session.id)}

    def is_decided() -> bool:
        opened = {each.id for each in debugger.holds.list_open(session.id)} - others
        return calls.has_completed(answer.call_id) or bool(opened) or session.over

    await session.wait_until(is_decided, timeout)
    call = await calls.reader.get_call(answer.call_id)
    outcome = HoldOutcome(
        hold_id=hold.id,
        session_id=session.id,
        action=decision.action,
        status=session.state.value,
        what=show_text(name_function(call.alias, call.qualname, call.method_name)),
        call_id=call.call_id,
    )
    _add_call_outcome(outcome, call)
    if answer.note is not UNSET:
        outcome.message = show_text(answer.note)
    if call.status == "running":
        outcome.message = f"It has not returned yet. calls_search(call_id='{call.call_id}') asks."
    return outcome


def _add_call_outcome(outcome: HoldOutcome, call: CallDetail) -> None:
    if call.decided is not UNSET and call.decided.arguments is not UNSET:
        outcome.changed = {
            change.name: show_value(
                change.name,
                f"{'not passed' if change.before is UNSET else change.before.text} → "
                f"{change.after.text}",
            )
            for change in call.decided.arguments
        }
    delivered = call.delivered or None
    if delivered is not None and delivered.result is not UNSET:
        outcome.result = show_value("result", delivered.result.text)
    elif delivered is not None and delivered.exception_type is not UNSET:
        raised = f"{delivered.exception_type}: {delivered.exception_message or ''}"
        outcome.exception = show_text(raised)
    elif call.exception_type:
        outcome.exception = show_text(f"{call.exception_type}: {call.exception_message or ''}")
    elif call.result is not None:
        outcome.result = show_value("result", call.result.text)


# -- agents ---------------------------------------------------------------------------------------


async def _decide_agent(
    debugger: Debugger, hold: Hold, decision: DecisionRequest, timeout: float
) -> HoldOutcome:
    session = debugger.sessions.get(hold.session_id).agent
    shown = await debugger.holds.get(hold.id)
    assert isinstance(shown, AgentHold)
    since, before = session.last_seq, set(session.held)
    await debugger.holds.decide(hold.id, decision)
    outcome = HoldOutcome(
        hold_id=hold.id,
        session_id=session.id,
        action=decision.action,
        status=session.state.value,
        what=show_text(shown.name) if shown.name else UNSET,
    )
    given = decision.fields.get("input")
    if isinstance(given, dict):
        outcome.changed = {name: show_json(name, value) for name, value in given.items()}
    if hold.moment is not Moment.ERROR:
        await _watch_agent(session, shown, since, before, outcome, timeout)
    outcome.status = session.state.value
    if outcome.status == "running":
        outcome.message = _NO_MORE
    return outcome


async def _watch_agent(
    session: AgentSession,
    held: AgentHold,
    since: int,
    before: set[str],
    outcome: HoldOutcome,
    timeout: float,
) -> None:
    """Wait until what was held has ended, or the agent is held again, or is over."""

    def is_stopped() -> bool:
        return session.over or bool(session.held.keys() - before)

    deadline = read_clock() + timeout
    while True:
        is_last = is_stopped() or read_clock() >= deadline
        page = await session.read_events(since, _EVENTS, _END_TYPES)
        since = page.last_seq
        for event in page.events:
            if _is_about(held, event["data"]) and await _add_event(session, event, outcome):
                return
        if is_last:
            return
        if not page.has_more:
            left = deadline - read_clock()
            await _wait_for_more(session, since, is_stopped, left)


async def _wait_for_more(
    session: AgentSession, since: int, is_stopped: Callable[[], bool], seconds: float
) -> None:
    await session.wait_until(lambda: session.last_seq > since or is_stopped(), seconds)


def _is_about(held: AgentHold, data: Any) -> bool:
    if held.tool_id is not UNSET:
        return bool(data.get("toolId") == held.tool_id)
    is_same_lane = (data.get("lane") or UNSET) == held.lane
    return "toolId" not in data and is_same_lane and data.get("iteration") == held.iteration


async def _add_event(session: AgentSession, event: Any, outcome: HoldOutcome) -> bool:
    """Take what an event says. True if it says how the call ended."""
    kind, data = event["type"], event["data"]
    if kind == "tool_result":
        outcome.result = await asyncio.to_thread(_show_result, session, data.get("result"))
        return False
    if data.get("isError"):
        error = data.get("error")
        named = error if isinstance(error, dict) else {}
        outcome.exception = show_text(f"{named.get('type')}: {named.get('message')}")
    elif kind == "api_response":
        said = await asyncio.to_thread(_show_answer, session, data.get("content"))
        outcome.result = said or str(data.get("stopReason") or "")
    return True


def _show_result(session: AgentSession, recorded: object) -> str:
    return show_json("result", format_result(session.read_body(recorded)))


def _show_answer(session: AgentSession, recorded: object) -> str:
    return show_text(format_answer(session.read_body(recorded)))
