"""A stop in a report: why, where, the source, the callers, and the variables that changed."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import UNSET

from holdfast.model.location import Location
from holdfast.model.stop import DataChange, Stop
from holdfast.service.programs.program_session import ProgramSession
from holdfast.service.tools.reports import report_places, report_values
from holdfast.service.tools.reports.report_changes import note_variables
from holdfast.service.tools.reports.report_context import ReportContext, add_omitted
from holdfast.service.tools.reports.report_exception import fill_stop_exception
from holdfast.service.tools.reports.report_values import Variable
from holdfast.wire.plain_text import clean_line, show_count
from holdfast.wire.program_answers import ProgramStatus
from holdfast.wire.report_answers import Report

_MAX_LOCALS = 200
_MAX_NAMED = 5
_UNTIL = "until"


async def fill_stop(report: Report, status: ProgramStatus, context: ReportContext) -> None:
    """Fill in the stop that a session shows. What is filled in counts as shown."""
    session = context.session
    stop = session.stops.require()
    variables, total = await _read_variables(session, stop)
    report.reason = _UNTIL if _has_ended(stop) else status.reason or UNSET
    if stop.location is not None:
        _fill_place(report, context, stop, stop.location)
    _fill_variables(report, context, stop, variables, total)
    report.returned = report_values.show_all(stop.returned) or UNSET
    report.shapes.update(report_values.list_shapes(stop.returned))
    _fill_message(report, context, stop)
    if stop.exception is not None:
        await fill_stop_exception(report, stop, stop.exception, context)
    if session.watches:
        await _fill_watches(report, session)


def _fill_place(report: Report, context: ReportContext, stop: Stop, place: Location) -> None:
    memory, is_full = context.memory, context.is_full
    report.at = context.show_place(place.file, place.line)
    is_within = stop.reason == "step" and memory.is_latest((stop.thread_id, stop.frame))
    if is_full or not is_within:
        function = report_places.name_function(stop.frames[0]) if stop.frames else place.function
        report.function = function or UNSET
    around = report_places.count_lines_around(memory, place, is_full=is_full)
    lines = report_places.show_source(context.sources, place.file, place.line, around)
    report.source = lines or UNSET
    report.stack = report_places.show_callers(stop, context) or UNSET
    memory.note_lines(place, around)
    memory.callers = report_places.list_callers(stop)


# -- variables ------------------------------------------------------------------------------------


async def _read_variables(session: ProgramSession, stop: Stop) -> tuple[Sequence[Variable], int]:
    """The variables of the top frame. They came with the stop, unless code was run since."""
    if stop.locals:
        return stop.locals, stop.locals_total
    page = await session.inspection.locals(count=_MAX_LOCALS)
    return page.variables, page.total


def _fill_variables(
    report: Report, context: ReportContext, stop: Stop, variables: Sequence[Variable], total: int
) -> None:
    changes = note_variables(context.memory, stop, variables, is_full=context.is_full)
    report.locals = changes.new or UNSET
    report.was = changes.was or UNSET
    report.gone = changes.gone or UNSET
    report.unchanged = changes.unchanged or UNSET
    if changes.new:
        texts = set(changes.new.values())
        new = [one for one in variables if report_values.show_value(one) in texts]
        report.shapes.update(report_values.list_shapes(new))
        if not context.is_full:
            _shorten_variables(report, context, changes.new, new)
    if changes.noise:
        noise = report_values.show_noise(changes.noise)
        add_omitted(report, noise, 'debug_inspect(expand="globals()")')
    if total > len(variables):
        more = f'debug_inspect(show=["locals"], start={len(variables)})'
        add_omitted(report, show_count(total - len(variables), "variable"), more)


def _shorten_variables(
    report: Report, context: ReportContext, texts: dict[str, str], variables: Sequence[Variable]
) -> None:
    shown, long = report_values.shorten_all(
        texts, variables, context.max_value, show_secrets=context.show_secrets
    )
    report.locals = shown
    report.shapes.update(
        (shown[name], report.shapes[texts[name]]) for name in long if texts[name] in report.shapes
    )
    if long:
        names = ", ".join(long[:_MAX_NAMED])
        add_omitted(report, f"{names} shortened", f'debug_inspect(expand="{long[0]}")')


async def _fill_watches(report: Report, session: ProgramSession) -> None:
    watches = await session.watches.at_stop()
    report.values = {watch["expression"]: report_values.show_value(watch) for watch in watches}
    report.shapes.update(report_values.list_shapes(watches))


# -- what else is to be said ----------------------------------------------------------------------


def _fill_message(report: Report, context: ReportContext, stop: Stop) -> None:
    messages = []
    if stop.data is not None and not _has_ended(stop):
        messages.append(_describe_write(stop.data, context))
    names = [str(one["name"]) for one in stop.threads if one["id"] == stop.thread_id]
    if len(stop.threads) > 1 and names and names[0] != "MainThread":
        messages.append(f"in thread {clean_line(names[0])}")
    waiting = len(context.session.stops.threads.waiting)
    if waiting:
        threads = show_count(waiting, "other thread")
        messages.append(f'{threads} stopped too: debug_inspect(show=["threads"])')
    if messages:
        report.message = "; ".join(messages)


def _has_ended(stop: Stop) -> bool:
    """Whether nothing was written: the frame ended in which an expression was to become true."""
    return stop.data is not None and stop.data.message is not None


def _describe_write(data: DataChange, context: ReportContext) -> str:
    old = "nothing" if data.old is None else data.old
    new = "deleted" if data.new is None else data.new
    place = context.show_place(data.location.file, data.location.line)
    return f"{data.name}: {old} → {new}, written at {place}"
