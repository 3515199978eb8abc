"""What the report of a run says besides the stop: its environment, its problems."""

from __future__ import annotations

from holdfast.model.breakpoint import Breakpoint
from holdfast.service.programs.breakpoint_set import PENDING
from holdfast.service.programs.program_session import ProgramSession
from holdfast.service.tools.programs.run_plan import RunPlan, describe_environment
from holdfast.service.tools.reports.report_end import NO_FILE
from holdfast.service.tools.reports.report_rows import add_problems
from holdfast.service.tools.tool_client import ToolClient
from holdfast.wire.report_answers import Report


def add_run(report: Report, session: ProgramSession, client: ToolClient, plan: RunPlan) -> None:
    """Add what only the first report of a run says."""
    report.environment = describe_environment(plan.environment, client)
    problems = [*plan.remarks, *_list_unverified(session, client)]
    add_problems(report, problems)


def _list_unverified(session: ProgramSession, client: ToolClient) -> list[str]:
    """Lines at which nothing can stop. A function may be found when its module is imported."""
    return [
        _describe_unverified(point, client, is_over=session.over)
        for point in session.breakpoints.points
        if point.kind == "line"
        and point.enabled
        and not point.verified
        # The end of a program says more of a breakpoint whose file has not come.
        and (point.is_until or not (session.over and point.message == PENDING))
    ]


def _describe_unverified(point: Breakpoint, client: ToolClient, *, is_over: bool) -> str:
    place = client.show_place(point.file or "", point.line or 0)
    message = point.message or "It cannot stop there"
    if is_over and message == PENDING:
        message = NO_FILE
    if point.suggestion is not None:
        message += f". Try line {point.suggestion}."
    return f"{place}: {message}"
