"""The table of tools: the name of each, what it takes, what it answers with, and what it does."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.service.tools import session_tools
from holdfast.service.tools.agents import agent_tools
from holdfast.service.tools.holds import call_tools, hold_tools
from holdfast.service.tools.programs import (
    breakpoint_tools,
    program_control,
    program_inspection,
    program_run,
)
from holdfast.service.tools.tool_client import ToolClient
from holdfast.service.tools.traces import diff_tools, trace_tools, why_tools
from holdfast.wire import tool_requests as requests
from holdfast.wire.agent_reports import AgentReport
from holdfast.wire.breakpoint_table import BreakpointTable
from holdfast.wire.call_reports import CallReport
from holdfast.wire.diff_reports import DiffReport
from holdfast.wire.hold_reports import HoldOutcome, HoldReport
from holdfast.wire.report_answers import Report
from holdfast.wire.session_table import SessionTable, StoppedSessions
from holdfast.wire.tool_answers import ToolAnswer
from holdfast.wire.tool_requests import ToolRequest
from holdfast.wire.trace_reports import TraceReport
from holdfast.wire.why_reports import WhyReport

if TYPE_CHECKING:
    from holdfast.service.debugger import Debugger

Operation = Callable[["Debugger", ToolClient, Any], Awaitable[ToolAnswer]]


@dataclass(frozen=True)
class Tool:
    """One tool. Its description is the docstring of its request."""

    name: str
    request: type[ToolRequest]
    answer: type[ToolAnswer]
    operation: Operation
    title: str
    is_readonly: bool = False
    is_destructive: bool = False
    is_open_world: bool = False
    """Whether it runs code that may reach the outside world."""


TOOLS: dict[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool(
            "debug_run",
            requests.DebugRun,
            Report,
            program_run.run,
            "Run and debug a program",
            is_open_world=True,
        ),
        Tool(
            "debug_continue",
            requests.DebugContinue,
            Report,
            program_control.resume,
            "Run on to the next stop",
            is_open_world=True,
        ),
        Tool(
            "debug_step",
            requests.DebugStep,
            Report,
            program_control.step,
            "Step",
            is_open_world=True,
        ),
        Tool(
            "debug_inspect",
            requests.DebugInspect,
            Report,
            program_inspection.inspect,
            "Look at a stop",  # an expression may change things
        ),
        Tool(
            "debug_evaluate",
            requests.DebugEvaluate,
            Report,
            program_inspection.evaluate,
            "Evaluate Python in a frame",
            is_open_world=True,
        ),
        Tool(
            "debug_set_breakpoints",
            requests.DebugSetBreakpoints,
            BreakpointTable,
            breakpoint_tools.set_breakpoints,
            "Set and remove breakpoints",
        ),
        Tool(
            "debug_trace",
            requests.DebugTrace,
            TraceReport,
            trace_tools.trace,
            "Show one call's whole life",
            is_open_world=True,
        ),
        Tool(
            "debug_why",
            requests.DebugWhy,
            WhyReport,
            why_tools.explain,
            "Ask where a value came from",
            is_open_world=True,
        ),
        Tool(
            "debug_diff",
            requests.DebugDiff,
            DiffReport,
            diff_tools.compare,
            "Find where two runs differ",
            is_open_world=True,
        ),
        Tool(
            "debug_sessions",
            requests.DebugSessions,
            SessionTable,
            session_tools.list_sessions,
            "List sessions",
            is_readonly=True,
        ),
        Tool(
            "debug_stop",
            requests.DebugStop,
            StoppedSessions,
            session_tools.stop,
            "End a session",
            is_destructive=True,
        ),
        Tool(
            "hold_list",
            requests.ListHolds,
            HoldReport,
            hold_tools.list_holds,
            "List what waits for a decision",  # and evaluate expressions there
        ),
        Tool(
            "hold_decide",
            requests.DecideHold,
            HoldOutcome,
            hold_tools.decide_hold,
            "Decide a hold",
            is_destructive=True,
        ),
        Tool(
            "calls_search",
            requests.SearchCalls,
            CallReport,
            call_tools.search_calls,
            "Search recorded calls",
            is_readonly=True,
        ),
        Tool(
            "agent_control",
            requests.ControlAgent,
            AgentReport,
            agent_tools.control_agent,
            "Steer another agent",
            is_destructive=True,
        ),
    )
}
