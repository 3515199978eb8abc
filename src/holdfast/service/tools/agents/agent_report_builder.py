"""Builds reports of an agent: where its loop is, what it did last, what it holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from holdfast.service.agents.agent_session import AgentSession
from holdfast.service.tools.agents.agent_event_lines import SHOWN_TYPES, render_event
from holdfast.service.tools.holds.held_targets import TargetDescriber
from holdfast.service.tools.holds.shown_texts import show_json, show_message, show_text
from holdfast.service.tools.tool_client import ToolClient
from holdfast.wire.agent_answers import AgentCounters, AgentLane
from holdfast.wire.agent_reports import AgentReport
from holdfast.wire.hold_reports import describe_fields

if TYPE_CHECKING:
    from holdfast.service.debugger import Debugger

_RECENT_EVENTS = 60
_RECENT_LINES = 12
_MAX_HOLDS = 50


class AgentReportBuilder:
    """Builds the report of one agent."""

    def __init__(self, debugger: Debugger, client: ToolClient, session: AgentSession) -> None:
        self._debugger = debugger
        self._session = session
        self._describer = TargetDescriber(debugger, client)

    async def build(
        self, command: str, message: str | None = None, *, with_events: bool = False
    ) -> AgentReport:
        """Where it is now; with what it did last if that is wanted."""
        session = self._session
        summary = session.summary()
        report = AgentReport(
            command=command,
            status=summary.status,
            session_id=session.id,
            name=show_text(session.name) if session.name else UNSET,
            iteration=summary.iteration,
            message=show_text(message) if message else UNSET,
        )
        if session.over and session.reason:
            report.reason = show_text(session.reason)
        if summary.lanes is not UNSET and len(summary.lanes) > 1:
            report.lanes = [_describe_lane(lane) for lane in summary.lanes]
        if with_events:
            report.recent = await self._list_recent()
        holds = self._debugger.holds.list_open(session.id)[:_MAX_HOLDS]
        held = await self._describer.describe_all(holds)
        if held:
            report.held, report.takes = held, describe_fields(held)
        return report

    async def build_status(self) -> AgentReport:
        """Where it is, what it did last, and what it came to."""
        report = await self.build("status", with_events=True)
        detail = await self._session.detail()
        if detail.model is not UNSET:
            report.model = show_text(detail.model)
        if detail.counters is not UNSET:
            report.totals = _describe_totals(detail.counters)
        if not self._session.over and report.held is UNSET:
            report.next = "agent_control pause or break; hold_list(wait=30) waits for a hold."
        return report

    async def build_inspection(self, state: object) -> AgentReport:
        """What it says of itself: messages, context, tools, variables."""
        report = await self.build("inspect")
        if not isinstance(state, Mapping):
            return report
        self._add_messages(report, state.get("messages"))
        context = state.get("context")
        if isinstance(context, Mapping):
            report.context = show_text(_describe_context(context))
        tools = state.get("tools")
        if isinstance(tools, Mapping) and isinstance(tools.get("enabled"), list):
            report.tools = [show_text(str(name)) for name in tools["enabled"]]
        variables = state.get("variables")
        if isinstance(variables, Mapping):
            report.variables = {
                show_text(str(name)): show_json(str(name), value)
                for name, value in variables.items()
            }
        return report

    def _add_messages(self, report: AgentReport, given: object) -> None:
        if not isinstance(given, Mapping):
            return
        count = given.get("count")
        report.message_count = count if isinstance(count, int) else UNSET
        items, first = given.get("items"), given.get("first")
        if isinstance(items, list):
            begin = first if isinstance(first, int) else 0
            report.messages = [
                f"{number} {show_message(message)}" for number, message in enumerate(items, begin)
            ]
            return
        recent = [one for one in given.get("recent") or () if isinstance(one, Mapping)]
        begin = (count if isinstance(count, int) else len(recent)) - len(recent)
        report.messages = [
            show_text(f"{number} {one.get('role')}: {one.get('preview')}")
            for number, one in enumerate(recent, begin)
        ]

    async def _list_recent(self) -> list[str]:
        since = max(0, self._session.last_seq - _RECENT_EVENTS)
        page = await self._session.read_events(since, _RECENT_EVENTS, SHOWN_TYPES)
        lines = [_render(event) for event in page.events]
        return [line for line in lines if line is not None][-_RECENT_LINES:]


def _render(event: Any) -> str | None:
    return render_event(event["type"], event["data"])


def _describe_lane(lane: AgentLane) -> str:
    text = f"{lane.lane}: {lane.status}, iteration {lane.iteration}"
    return show_text(text if lane.parent is UNSET else f"{text}, called by {lane.parent}")


def _describe_totals(counters: AgentCounters) -> str:
    parts = [
        f"{counters.model_calls} model calls",
        f"{counters.tool_calls} tools",
        f"{counters.errors} errors",
        f"{counters.holds} holds",
        f"{counters.input_tokens} + {counters.output_tokens} tokens",
    ]
    if counters.cost is not None:
        parts.append(f"cost {counters.cost:g}")
    return ", ".join(parts)


def _describe_context(context: Mapping[str, Any]) -> str:
    most = context.get("maxTokens")
    text = f"about {context.get('tokenEstimate')} tokens" + (f" of {most}" if most else "")
    summary = context.get("summary")
    return f"{text}; summary: {summary}" if summary else text
