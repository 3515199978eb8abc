"""What an experiment has collected since the last report, and what its program has remarked."""

from __future__ import annotations

from msgspec import UNSET

from holdfast.service.programs.program_session import ProgramSession
from holdfast.service.tools.tool_client import ToolClient
from holdfast.wire.report_answers import Report


def add_collected(
    report: Report, session: ProgramSession, client: ToolClient, *, is_full: bool, counts: bool
) -> None:
    """Add the rows that no report has shown yet, or all. `counts`: somebody gets this report."""
    collected = session.collected
    rows = collected.rows if is_full else collected.list_new()
    if rows:
        report.rows = [
            [client.show_place(row["file"], row["line"]), *row["values"]] for row in rows
        ]
        report.hits = collected.hits
        report.columns = list(collected.expressions) or UNSET
    add_problems(report, collected.remarks)
    if counts:
        collected.note_shown()


def add_problems(report: Report, problems: list[str]) -> None:
    """Add what the report does not say yet, or says in fewer words."""
    known = [
        text for text in report.problems or () if not any(new.startswith(text) for new in problems)
    ]
    report.problems = [*known, *(text for text in problems if text not in known)] or UNSET
