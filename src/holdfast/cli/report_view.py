"""Prints answers of tools: coloured on a terminal, in a pipe as the tools' plain text."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from holdfast.cli.tool_hints import write_commands
from holdfast.wire.breakpoint_table import BreakpointTable
from holdfast.wire.diff_reports import DiffReport
from holdfast.wire.plain_text import clean_all
from holdfast.wire.report_answers import Report
from holdfast.wire.session_table import StoppedSessions
from holdfast.wire.tool_answers import ToolAnswer
from holdfast.wire.trace_reports import TraceReport
from holdfast.wire.why_reports import WhyReport

Answer = TypeVar("Answer", bound=ToolAnswer)

_HINTS = ("message", "error", "problems", "remarks", "omitted", "next")
"""Fields in which the server itself speaks; the others hold what programs wrote."""
_TABLES: Mapping[str, type[ToolAnswer]] = {
    "debug_set_breakpoints": BreakpointTable,
    "debug_stop": StoppedSessions,
    "debug_trace": TraceReport,
    "debug_why": WhyReport,
    "debug_diff": DiffReport,
}
"""What tools answer with that do not answer with a report."""
_TRACES = ("debug_trace", "debug_why", "debug_diff")
"""Those whose text is source with values beside it."""


def print_answer(tool: str, answer: Mapping[str, Any]) -> None:
    """Print what a tool answered."""
    if tool in _TABLES:
        text = _convert(answer, _TABLES[tool]).to_text()
        if tool in _TRACES and sys.stdout.isatty():
            from holdfast.cli.coloured_trace import print_coloured_trace

            print_coloured_trace(text)
        else:
            print(text)
        return
    report = _convert(answer, Report)
    if sys.stdout.isatty():
        from holdfast.cli.coloured_report import print_coloured

        print_coloured(report)
    else:
        print(report.to_text())


def _convert(answer: Mapping[str, Any], answer_type: type[Answer]) -> Answer:
    """An answer as it may be printed: harmless to terminals, with commands in its hints."""
    # The server does that for reports. Here it holds for every server and every answer.
    shown: dict[str, Any] = clean_all(answer)
    for name in _HINTS:
        if name in shown:
            shown[name] = _write_commands(shown[name])
    return msgspec.convert(shown, answer_type)


def _write_commands(value: Any) -> Any:
    if isinstance(value, list):
        return [write_commands(one) for one in value]
    return write_commands(value)
