"""Breakpoints that make an agent, or the calls of an application, hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from holdfast import errors
from holdfast.core.agent_breakpoints import KINDS, MAIN_FIELD
from holdfast.service.agents.agent_session import AgentSession
from holdfast.service.tools.agents.agent_report_builder import AgentReportBuilder
from holdfast.service.tools.holds.held_targets import describe_point
from holdfast.service.tools.holds.shown_texts import show_text
from holdfast.service.tools.tool_client import ToolClient
from holdfast.wire.agent_reports import AgentReport
from holdfast.wire.call_answers import CallBreakpointAnswer
from holdfast.wire.tool_requests import ControlAgent

if TYPE_CHECKING:
    from holdfast.service.debugger import Debugger

_CALL = "call:"
_CALL_ID = "cbp_"


def is_about_calls(request: ControlAgent) -> bool:
    """Whether a command is about the calls of applications, and no agent is needed."""
    point = request.breakpoint or ""
    if request.command == "break":
        return point.startswith(_CALL)
    return request.command == "unbreak" and point.startswith(_CALL_ID)


async def change_call_breakpoints(
    debugger: Debugger, client: ToolClient, request: ControlAgent
) -> AgentReport:
    """Hold calls of applications, or hold them no more."""
    points, wanted = debugger.calls.breakpoints, request.breakpoint or ""
    if request.command == "unbreak":
        removed = await debugger.calls.removal.remove(wanted, release=False, by=client.name)
        message = f"{wanted} is removed."
        if removed.holds is not UNSET:
            message += f" It still holds {', '.join(removed.holds)}: hold_decide."
        return AgentReport(
            command=request.command, message=message, breakpoints=list_call_points(debugger)
        )
    fields: dict[str, Any] = {"function": wanted[len(_CALL) :].strip()}
    if request.condition is not None:
        fields["condition"] = request.condition
    if request.session_id is not None:
        fields["session_id"] = request.session_id
    added = await points.add(fields)
    parts = [f"{added.id} holds {describe_call_point(added)}."]
    if added.warnings is not UNSET:
        parts += added.warnings
    return AgentReport(
        command=request.command,
        message=show_text(" ".join(parts)),
        breakpoints=list_call_points(debugger),
        next="hold_list(wait=30) waits for the next held call.",
    )


def list_call_points(debugger: Debugger) -> list[str]:
    """The breakpoints of calls, in words."""
    points = debugger.calls.breakpoints.list().breakpoints
    return [show_text(f"{point.id} {describe_call_point(point)}") for point in points]


def describe_call_point(point: CallBreakpointAnswer) -> str:
    names = [value for value in (point.function, point.alias) if value is not UNSET]
    text = f"{point.when} call {' of '.join(names) or 'of anything'}"
    if point.condition is not UNSET:
        text += f" if {point.condition}"
    return f"{text} ({point.hits} hits)" if point.hits else text


async def change_agent_breakpoints(
    debugger: Debugger, session: AgentSession, request: ControlAgent, report: AgentReportBuilder
) -> AgentReport:
    """Add, list or clear breakpoints of an agent."""
    seconds = request.timeout or None
    message = None
    if request.command == "break":
        added = await session.command("breakpoint", _build_point(request), seconds)
        point = _get_data(added.response).get("breakpoint")
        message = f"{describe_point(point)} is set." if isinstance(point, dict) else "It is set."
    elif request.command == "unbreak":
        clear = {"action": "clear", "id": request.breakpoint}
        if request.breakpoint == "all":
            clear = {"action": "clear-all"}
        cleared = await session.command("breakpoint", clear, seconds)
        ids = _get_data(cleared.response).get("cleared") or ["none"]
        message = (
            f"cleared: {', '.join(map(str, ids)) if isinstance(ids, list) and ids else 'none'}"
        )
    listed = _get_data((await session.command("breakpoint", {"action": "list"}, seconds)).response)
    answer = await report.build(request.command, message)
    answer.breakpoints = [_describe(point) for point in _list(listed.get("breakpoints"))]
    if request.command == "breakpoints":
        answer.breakpoints += list_call_points(debugger)
    rules = [_describe(rule) for rule in _list(listed.get("rules"))]
    answer.rules = rules or UNSET
    if request.command == "break" and answer.held is UNSET:
        answer.next = "hold_list(wait=30) waits until it is hit."
    return answer


def _build_point(request: ControlAgent) -> dict[str, Any]:
    """The breakpoint as agents take it, out of `tool:write_*` and the like."""
    kind, _, argument = (request.breakpoint or "").partition(":")
    kind, argument = kind.strip(), argument.strip()
    if kind not in KINDS:
        raise errors.InvalidAgentBreakpoint(
            f"breakpoint: there is none on {kind!r:.100}",
            hint=f"It begins with one of {', '.join(KINDS)} or call, as in `tool:write_*`.",
            field="breakpoint",
            valid=[*KINDS, "call"],
        )
    point: dict[str, Any] = {"action": "add", "on": kind}
    main = MAIN_FIELD[kind]
    if argument:
        point[main] = int(argument) if main == "count" and argument.isdecimal() else argument
    if request.condition is not None:
        point["if"] = request.condition
    if request.lane is not None:
        point["lane"] = request.lane
    return point


def _describe(point: Mapping[str, object]) -> str:
    hits = point.get("hits")
    return show_text(describe_point(point) + (f" ({hits} hits)" if hits else ""))


def _list(given: object) -> list[Mapping[str, object]]:
    return [one for one in given if isinstance(one, dict)] if isinstance(given, list) else []


def _get_data(response: Mapping[str, object] | None) -> Mapping[str, Any]:
    data = (response or {}).get("data")
    return data if isinstance(data, dict) else {}
