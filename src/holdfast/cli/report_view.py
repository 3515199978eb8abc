"""Prints answers of tools: coloured on a terminal, in a pipe as the tools' plain text."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from holdfast.cli.tool_hints import write_commands
from holdfast.wire.breakpoint_table import BreakpointTable
from holdfast.wire.plain_text import clean_all
from holdfast.wire.report_answers import Report
from holdfast.wire.session_table import StoppedSessions
from holdfast.wire.tool_answers import ToolAnswer

Answer = TypeVar("Answer", bound=ToolAnswer)

_HINTS = ("message", "error", "problems", "omitted", "next")
"""Fields in which the server itself speaks; the others hold what programs wrote."""
_TABLES: Mapping[str, type[ToolAnswer]] = {
    "debug_set_breakpoints": BreakpointTable,
    "debug_stop": StoppedSessions,
}
"""What tools answer with that do not answer with a report."""


def print_answer(tool: str, answer: Mapping[str, Any]) -> None:
    """Print what a tool answered."""
    if tool in _TABLES:
        print(_convert(answer, _TABLES[tool]).to_text())
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
