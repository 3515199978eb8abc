"""The exception in a report: what it is, what led to it, and the frames that matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import UNSET

from holdfast.model import stop as model
from holdfast.model.stop import Stop
from holdfast.service.tools.reports import report_values
from holdfast.service.tools.reports.report_context import ReportContext, add_omitted
from holdfast.service.tools.reports.report_places import MAX_SNAPSHOT_FRAMES, name_function
from holdfast.wire.plain_text import clean, clean_line, cut, show_count
from holdfast.wire.program_answers import ThrownException
from holdfast.wire.report_answers import Report, ReportedCause, ReportedException, ReportedFrame

_MAX_FRAMES = 3
_MAX_LOCALS = 30
_MAX_CAUSE_LOCALS = 10
_MAX_LINE = 160
_MODULE = "<module>"

Frame = Mapping[str, Any]


async def fill_stop_exception(
    report: Report, stop: Stop, thrown: model.ThrownException, context: ReportContext
) -> None:
    """The exception that a program is stopped at, with the variables of the nearest callers."""
    if _note_exception(thrown, context):  # it is on its way through its callers, or raised again
        report.exception = _build_known(thrown)
        return
    inspection = context.session.inspection
    described = await inspection.exception(stop.thread_id)
    own = [depth for depth, frame in enumerate(stop.frames) if not frame.get("library")]
    frames = []
    for depth in own[:_MAX_FRAMES]:
        if depth:  # the variables of the top frame are those of the report
            page = await inspection.locals(depth, count=_MAX_LOCALS)
            frames.append(_build_frame(report, stop.frames[depth], page.variables, context))
    report.exception = exception = _build(report, described, context)
    exception.frames = frames or UNSET
    if len(own) <= _MAX_FRAMES and len(stop.frames) < MAX_SNAPSHOT_FRAMES:
        report.stack = UNSET  # these are the callers
    if own and own[0] and not context.is_full:
        _fold_library_frame(report)


def _fold_library_frame(report: Report) -> None:
    """It was raised in a library: how that came about is in the frames of the user's own."""
    report.source = [line for line in report.source or () if line.startswith(">")] or UNSET
    if report.locals:
        count = show_count(len(report.locals), "variable")
        add_omitted(report, f"{count} of the library", 'debug_inspect(show=["locals"])')
    report.locals = report.was = report.gone = report.unchanged = UNSET


def _note_exception(
    thrown: model.ThrownException | ThrownException, context: ReportContext
) -> bool:
    """Note that an exception is shown. Returns whether it was before."""
    key = thrown.module, thrown.type, thrown.message
    is_known = context.memory.exception == key and not context.is_full
    context.memory.exception = key
    return is_known


def _build_known(thrown: model.ThrownException | ThrownException) -> ReportedException:
    return ReportedException(type=clean_line(thrown.type), message=clean(thrown.message))


def fill_end_exception(report: Report, thrown: ThrownException, context: ReportContext) -> None:
    """The exception that ended a program, with its nearest frame of the user's own first."""
    if _note_exception(thrown, context):  # it was stopped at before
        report.exception, report.source = _build_known(thrown), UNSET
        return
    described = {
        "type": thrown.type,
        "message": thrown.message,
        "notes": thrown.notes or (),
        "causes": thrown.causes or (),
    }
    report.exception = exception = _build(report, described, context)
    frames = [
        _build_frame(report, frame, frame.get("locals") or (), context)
        for frame in thrown.frames or ()
        if not frame.get("library")
    ]
    if frames and frames[0].at == report.at:  # as at a stop, its variables are the report's
        report.locals = frames.pop(0).locals
    exception.frames = frames[: _MAX_FRAMES - 1] or UNSET


def _build(
    report: Report, described: Mapping[str, Any], context: ReportContext
) -> ReportedException:
    causes = [_build_cause(report, cause, context) for cause in described.get("causes") or ()]
    return ReportedException(
        type=clean_line(str(described["type"])),
        message=_join_message(described),
        causes=causes or UNSET,
    )


def _join_message(described: Mapping[str, Any]) -> str:
    """The message, and the notes that were added to it."""
    return clean("\n".join((str(described["message"]), *map(str, described.get("notes") or ()))))


def _build_cause(report: Report, cause: Mapping[str, Any], context: ReportContext) -> ReportedCause:
    built = ReportedCause(
        type=clean_line(str(cause["type"])),
        message=_join_message(cause),
        relation=str(cause["relation"]),
    )
    frames: Sequence[Frame] = cause.get("frames") or ()
    if frames:
        variables = (frames[0].get("locals") or ())[:_MAX_CAUSE_LOCALS]
        frame = _build_frame(report, frames[0], variables, context)
        built.at = frame.at
        if frame.at != report.at:
            built.text, built.locals = frame.text, frame.locals
    return built


def _build_frame(
    report: Report, frame: Frame, variables: Sequence[Mapping[str, Any]], context: ReportContext
) -> ReportedFrame:
    text = frame.get("text") or context.sources.line(frame["file"], frame["line"])
    if frame["name"] == _MODULE:
        variables = [one for one in variables if report_values.name_noise(one) is None]
    report.shapes.update(report_values.list_shapes(variables))
    values = report_values.show_all(variables)
    if not context.is_full:
        values, _ = report_values.shorten_all(
            values, variables, context.max_value, show_secrets=context.show_secrets
        )
    return ReportedFrame(
        at=context.show_place(frame["file"], frame["line"]),
        function=name_function(dict(frame)),
        text=cut(clean_line(text.strip()), _MAX_LINE) if text else UNSET,
        locals=values or UNSET,
    )
