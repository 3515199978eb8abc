"""The end of a program in a report: how it ended, and which breakpoints were never hit."""

from __future__ import annotations

from msgspec import UNSET

from holdfast.service.tools.reports import report_places
from holdfast.service.tools.reports.report_context import ReportContext
from holdfast.service.tools.reports.report_exception import fill_end_exception
from holdfast.wire.plain_text import clean_line
from holdfast.wire.program_answers import ProgramStatus, UnhitBreakpoint
from holdfast.wire.report_answers import Report
from holdfast.wire.session_answers import Location

_CONTEXT_LINES = 2
_USUAL_REASONS = frozenset({"target_exited", "terminated"})


def fill_end(report: Report, status: ProgramStatus, context: ReportContext) -> None:
    report.exit_code = status.exit_code
    if status.reason and status.reason not in _USUAL_REASONS:
        report.reason = status.reason
    if status.signal is not UNSET:
        report.reason = status.signal
    if status.error_details is not UNSET:
        details = status.error_details
        report.message = " ".join(filter(None, (details.message, details.hint)))
    thrown = status.exception
    if thrown is not UNSET:
        if thrown.location is not None:
            _fill_place(report, context, thrown.location)
        fill_end_exception(report, thrown, context)
    if status.never_hit is not UNSET:
        report.never_hit = [name_breakpoint(point, context) for point in status.never_hit] or UNSET


def _fill_place(report: Report, context: ReportContext, place: Location) -> None:
    """Where the exception that ended it was raised."""
    report.at = context.show_place(place.file, place.line)
    report.function = clean_line(place.function) if place.function else UNSET
    lines = report_places.show_source(context.sources, place.file, place.line, _CONTEXT_LINES)
    report.source = lines or UNSET


def name_breakpoint(point: UnhitBreakpoint, context: ReportContext) -> str:
    """A breakpoint as a client would write it."""
    if point.file is not UNSET and point.line is not UNSET:
        return context.show_place(point.file, point.line)
    return clean_line(point.function) if point.function is not UNSET else point.breakpoint_id
