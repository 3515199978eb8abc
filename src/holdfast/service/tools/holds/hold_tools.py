"""Lists and decides holds of every kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET

from holdfast import errors
from holdfast.model.hold import Hold
from holdfast.service.tools.holds.decision_outcomes import decide_and_watch
from holdfast.service.tools.holds.held_targets import TargetDescriber
from holdfast.service.tools.tool_client import ToolClient
from holdfast.wire.hold_reports import HoldOutcome, HoldReport, describe_fields
from holdfast.wire.tool_requests import DecideHold, ListHolds

if TYPE_CHECKING:
    from holdfast.service.debugger import Debugger

_MAX_DESCRIBED = 50


async def list_holds(debugger: Debugger, client: ToolClient, request: ListHolds) -> HoldReport:
    """List what waits for a decision, or show one hold."""
    describer = TargetDescriber(debugger, client, request.show_secrets)
    if request.hold_id is not None:
        target = await describer.describe(request.hold_id, is_full=True)
        is_open = target.outcome is UNSET
        if request.evaluate:
            await describer.evaluate(target, request.evaluate)
        return HoldReport(total=int(is_open), holds=[target], takes=describe_fields([target]))
    if request.evaluate:
        raise errors.InvalidInput("evaluate: it needs a hold_id", field="evaluate")
    if request.session_id is not None:
        debugger.sessions.get(request.session_id)  # raises if there is none
    if request.wait and not debugger.holds.list_open(request.session_id):
        await debugger.holds.wait_for_any(request.session_id, request.wait)
    return await _list_open(debugger, describer, request)


async def _list_open(
    debugger: Debugger, describer: TargetDescriber, request: ListHolds
) -> HoldReport:
    holds: list[Hold] = debugger.holds.list_open(request.session_id)
    targets = await describer.describe_all(holds[:_MAX_DESCRIBED])
    report = HoldReport(
        total=len(targets) + len(holds[_MAX_DESCRIBED:]),
        holds=targets,
        takes=describe_fields(targets),
    )
    if report.total > len(targets):
        report.omitted = [f"{report.total - len(targets)} newer holds: hold_list(session_id=…)"]
    if not targets:
        report.message = _describe_nothing(debugger, request)
    return report


def _describe_nothing(debugger: Debugger, request: ListHolds) -> str:
    if request.session_id is not None:
        session = debugger.sessions.peek(request.session_id)
        if session.over:
            return f"Session {session.id} has ended."
    waited = f"Waited {request.wait:g} s. " if request.wait else ""
    return (
        f"{waited}agent_control(command='break', breakpoint='tool:…' or 'call:…') makes something "
        "hold; hold_list(wait=30) waits for it."
    )


async def decide_hold(debugger: Debugger, client: ToolClient, request: DecideHold) -> HoldOutcome:
    """Settle a hold, and see what comes of it."""
    outcome = await decide_and_watch(debugger, client, request)
    if outcome.report is UNSET:
        holds = debugger.holds.list_open(outcome.session_id)[:_MAX_DESCRIBED]
        targets = await TargetDescriber(debugger, client).describe_all(holds)
        if targets:
            outcome.held, outcome.takes = targets, describe_fields(targets)
    return outcome
