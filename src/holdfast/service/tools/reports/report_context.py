"""What a report is built for: a session, a client, and what that client knows already."""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.service.programs.program_session import ProgramSession
from holdfast.service.programs.source_files import SourceFiles
from holdfast.service.tools.reports.report_memory import SessionMemory
from holdfast.service.tools.tool_client import ToolClient
from holdfast.wire.report_answers import Report
from holdfast.wire.tool_answers import BYTES_PER_TOKEN
from holdfast.wire.tool_requests import DEFAULT_BUDGET

_VALUES_PER_REPORT = 10


@dataclass(frozen=True)
class ReportContext:
    session: ProgramSession
    client: ToolClient
    memory: SessionMemory
    is_full: bool = False
    """Whether all is told, as if nothing had been shown before."""
    show_secrets: bool = False
    budget_tokens: int = DEFAULT_BUDGET

    @property
    def sources(self) -> SourceFiles:
        return self.session.programs.sources

    @property
    def max_value(self) -> int:
        """Bytes of one value, so that it leaves room for the others."""
        return self.budget_tokens * BYTES_PER_TOKEN // _VALUES_PER_REPORT

    def show_place(self, file: str, line: int) -> str:
        return self.client.show_place(file, line)


def add_omitted(report: Report, what: str, call: str) -> None:
    """Say what is left out, and what shows it."""
    report.omitted = [*(report.omitted or ()), f"{what}: {call}"]
