"""Steers the loop of another agent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from holdfast import errors
from holdfast.service.agents.agent_session import AgentSession
from holdfast.service.run_options import RunOptions
from holdfast.service.tools.agents import agent_breakpoint_tools as breakpoint_tools
from holdfast.service.tools.agents.agent_report_builder import AgentReportBuilder
from holdfast.service.tools.tool_client import ToolClient
from holdfast.wire.agent_reports import AgentReport
from holdfast.wire.session_requests import AgentStateQuery
from holdfast.wire.tool_requests import ControlAgent

if TYPE_CHECKING:
    from holdfast.service.debugger import Debugger

_MESSAGES = 20
FIELDS_OF = {
    "break": ("breakpoint", "condition"),
    "unbreak": ("breakpoint",),
    "inspect": ("what", "start"),
    "inject": ("message", "role"),
    "set": ("key", "value"),
    "cancel": ("tool_id",),
}
"""The fields that only some commands take."""
_NEEDED = {
    "break": "breakpoint",
    "unbreak": "breakpoint",
    "inject": "message",
    "set": "key",
    "cancel": "tool_id",
}


async def control_agent(
    debugger: Debugger, client: ToolClient, request: ControlAgent
) -> AgentReport:
    """Send a command to an agent, and report what came of it."""
    _check_fields(request)
    if breakpoint_tools.is_about_calls(request):
        return await breakpoint_tools.change_call_breakpoints(debugger, client, request)
    session = choose_agent(debugger, request.session_id)
    report = AgentReportBuilder(debugger, client, session)
    if request.command == "status":
        return await report.build_status()
    session.require_live()
    match request.command:
        case "pause" | "resume" | "step":
            return await _run(session, client, request, report)
        case "inspect":
            return await _inspect(session, request, report)
        case "break" | "breakpoints" | "unbreak":
            return await breakpoint_tools.change_agent_breakpoints(
                debugger, session, request, report
            )
    answer = await session.command(*_build_command(request, client), request.timeout or None)
    said = (answer.response or {}).get("message")
    note = answer.note if answer.note is not UNSET else said
    later = " It takes effect before the next model call." if answer.status == "accepted" else ""
    return await report.build(
        request.command, f"{request.command}: {answer.status}.{f' {note}' if note else ''}{later}"
    )


def _check_fields(request: ControlAgent) -> None:
    """Refuse a field that the command does not take, and a command without what it needs."""
    for command, names in FIELDS_OF.items():
        for name in names:
            takes = FIELDS_OF.get(request.command, ())
            if getattr(request, name) in (None, UNSET) or name in takes:
                continue
            raise errors.InvalidInput(
                f"{name}: {request.command} does not take it",
                hint=f"It goes with {command}. {request.command} takes "
                f"{' and '.join(takes) or 'nothing'}.",
                field=name,
                valid=list(takes),
            )
    needed = _NEEDED.get(request.command)
    if needed is not None and not getattr(request, needed):
        raise errors.InvalidInput(
            f"{needed}: {request.command} needs it",
            hint=f"{request.command} takes {' and '.join(FIELDS_OF[request.command])}.",
            field=needed,
            valid=list(FIELDS_OF[request.command]),
        )
    if request.command == "set" and request.value is UNSET:
        raise errors.InvalidInput("value: set needs it", field="value", valid=["key", "value"])


def _build_command(request: ControlAgent, client: ToolClient) -> tuple[str, Mapping[str, Any]]:
    lane = {} if request.lane is None else {"lane": request.lane}
    match request.command:
        case "inject":
            role = request.role or "user"
            return "inject_message", {"role": role, "content": request.message, **lane}
        case "set":
            return "set_variable", {"key": request.key, "value": request.value, **lane}
        case _:
            return "cancel_tool", {"toolId": request.tool_id, "by": client.name}


async def _run(
    session: AgentSession, client: ToolClient, request: ControlAgent, report: AgentReportBuilder
) -> AgentReport:
    """Pause, resume or step, and wait until it is held again, or is over."""
    options = RunOptions(by=client.name, wait=request.timeout, lane=request.lane)
    message = None
    if request.command == "pause":
        answer = await session.pause(options)
        if answer.pause_pending is True:
            message = "It stops before its next model call: hold_list(wait=…) waits for that."
    elif request.command == "step":
        await session.step("step-over", options)
    else:
        await session.resume(options)
    return await report.build(request.command, message, with_events=True)


async def _inspect(
    session: AgentSession, request: ControlAgent, report: AgentReportBuilder
) -> AgentReport:
    count = None if request.start is None else _MESSAGES
    query = AgentStateQuery(
        what=request.what or "all", lane=request.lane, first=request.start, count=count, live=True
    )
    shown = await session.inspect(query)
    return await report.build_inspection(shown.state)


def choose_agent(debugger: Debugger, wanted: str | None) -> AgentSession:
    """The agent that is meant: by id, by a part of it, by name; else the latest, if it runs."""
    agents = debugger.agents.sessions.values()
    sessions = sorted(agents, key=lambda one: (not one.over, one.created_at))
    if not sessions:
        raise errors.SessionNotFound(
            "no agent is known",
            hint="An agent makes itself known: `from holdfast.bridge import start`. Applications "
            "whose calls are held are in hold_list.",
            id=wanted,
            session_id=wanted,
        )
    if wanted is None:
        return sessions[-1]
    exact = [one for one in sessions if wanted in (one.id, one.name)]
    parts = [one for one in sessions if one.id.startswith(wanted) or one.id.endswith(wanted)]
    found = exact or parts
    if found and (exact or len(found) == 1):
        return found[-1]
    known = ", ".join(f"{one.id} ({one.name})" for one in reversed(sessions[-5:]))
    raise errors.SessionNotFound(
        f"no agent {wanted:.100}", hint=f"The latest: {known}.", id=wanted, session_id=wanted
    )
