"""The end of a program in a report: how it ended, and which breakpoints were never hit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import UNSET

from holdfast.core import function_finder
from holdfast.service.programs.breakpoint_set import NOT_FOUND, PENDING
from holdfast.service.tools.function_advice import list_near
from holdfast.service.tools.project_files import list_near_files
from holdfast.service.tools.reports import report_places
from holdfast.service.tools.reports.report_context import ReportContext
from holdfast.service.tools.reports.report_exception import fill_end_exception
from holdfast.wire.plain_text import clean_line
from holdfast.wire.program_answers import ProgramStatus, UnhitBreakpoint
from holdfast.wire.report_answers import Report
from holdfast.wire.session_answers import Location

NO_FILE = "no such file was found"
_NO_FUNCTION = "no such function was found"
_CONTEXT_LINES = 2
_NOT_REACHED = frozenset({"Its line was never reached.", "Its function was never called."})
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


def list_useless(status: ProgramStatus, context: ReportContext) -> Iterator[str]:
    """The breakpoints that could not stop the program, each with the reason."""
    for point in status.never_hit or ():
        if point.message not in _NOT_REACHED:
            name, message = name_breakpoint(point, context), point.message
            yield f"{name}: {_explain_missing(point, context) or message}"


def _explain_missing(point: UnhitBreakpoint, context: ReportContext) -> str:
    """What was waited for has not come: now that the program has ended, it never will."""
    folder = context.client.cwd
    if point.message == PENDING and point.file is not UNSET:
        near = [] if folder is None else list_near_files(folder, point.file)
        return _add_near(NO_FILE, [context.client.show_path(one) for one in near])
    if point.function is not UNSET:
        shown = function_finder.shorten(point.function)
        if point.message == NOT_FOUND.format(shown):
            near = [] if folder is None else list_near(context.sources, folder, point.function)
            return _add_near(_NO_FUNCTION, near)
    return ""


def _add_near(problem: str, near: Sequence[str]) -> str:
    return f"{problem}; near: {', '.join(near)}" if near else problem


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
