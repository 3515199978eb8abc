"""A report as plain text: the same facts as the structured one, for people and models to read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from msgspec import UNSET

if TYPE_CHECKING:
    from holdfast.wire.report_answers import Report

RELATIONS = {
    "cause": "raised from",
    "context": "raised while handling",
    "member": "has the member",
}


def render(report: Report) -> str:
    return "\n".join(line for part in _PARTS for line in part(report))


def _render_head(report: Report) -> Iterator[str]:
    head = report.status
    if report.at is not UNSET:
        head += f" at {report.at}"
    if report.function is not UNSET:
        head += f" in {report.function}"
    if report.reason is not UNSET:
        head += f" ({report.reason})"
    if report.exit_code is not UNSET:
        head += f", exit code {'unknown' if report.exit_code is None else report.exit_code}"
    yield f"{head} · {report.session_id}"
    if report.environment is not UNSET:
        yield f"environment: {_indent(report.environment)}"
    if report.message is not UNSET:
        yield _indent(report.message)
    if report.error is not UNSET:
        yield f"error: {_indent(report.error)}"


def _render_exception(report: Report) -> Iterator[str]:
    if report.exception is UNSET:
        return
    exception = report.exception
    yield _name_exception(exception.type, exception.message)
    for cause in exception.causes or ():
        place = f" at {cause.at}" if cause.at is not UNSET else ""
        text = f"  {cause.text}" if cause.text is not UNSET else ""
        relation = RELATIONS.get(cause.relation, cause.relation)
        named = _name_exception(cause.type, cause.message)
        between = "\n   " if place and "\n" in named else ""  # a place is not one of its notes
        yield f"  {relation} {named}{between}{place}{text}"
        for name, value in (cause.locals or {}).items():
            yield f"    {name} = {_indent(value)}"


def _name_exception(kind: str, message: str) -> str:
    return f"{kind}: {_indent(message)}" if message else kind


def _render_source(report: Report) -> Iterator[str]:
    yield from report.source or ()


def _render_variables(report: Report) -> Iterator[str]:
    yield from _render_values(report.locals or {}, report.was or {})
    if report.gone:
        yield f"gone: {', '.join(report.gone)}"
    if report.unchanged is not UNSET:
        yield f"… {report.unchanged} unchanged"
    for name, value in (report.returned or {}).items():
        yield f"{name} returned {_indent(value)}"
    yield from _render_values(report.values or {}, {})


def _render_values(values: Mapping[str, str], was: Mapping[str, str]) -> Iterator[str]:
    for name, value in values.items():
        yield f"{name} = {_indent(value)}" + (f" (was {_indent(was[name])})" if name in was else "")


def _render_frames(report: Report) -> Iterator[str]:
    if report.exception is UNSET:
        return
    for frame in report.exception.frames or ():
        text = f"  {frame.text}" if frame.text is not UNSET else ""
        yield f"in {frame.function} {frame.at}{text}"
        for name, value in (frame.locals or {}).items():
            yield f"  {name} = {_indent(value)}"


def _render_stack(report: Report) -> Iterator[str]:
    if report.stack:
        yield f"stack: {' ← '.join(report.stack)}"


def _render_asked(report: Report) -> Iterator[str]:
    """What is there only if it was asked for."""
    for thread in report.threads or ():
        yield f"thread: {_indent(thread)}"
    for point in report.breakpoints or ():
        yield f"breakpoint: {_indent(point)}"


def _render_run(report: Report) -> Iterator[str]:
    """What happened on the way: steps, rows, output."""
    for step in report.steps or ():
        yield f"step: {_indent(step)}"
    if report.columns:
        yield _indent(" | ".join(("at", *report.columns)))
    for row in report.rows or ():
        yield _indent(" | ".join(row))
    if report.hits is not UNSET:
        yield f"hits: {report.hits}"
    if report.output is not UNSET:
        yield _render_block("output", report.output)
    if report.prompt is not UNSET:
        yield f"prompt: {_indent(report.prompt)}"


def _render_block(title: str, text: str) -> str:
    if "\n" not in text:
        return f"{title}: {text}"
    return f"{title}:\n  " + text.replace("\n", "\n  ")


def _render_notes(report: Report) -> Iterator[str]:
    if report.never_hit:
        yield f"never hit: {', '.join(report.never_hit)}"
    for problem in report.problems or ():
        yield f"problem: {_indent(problem)}"
    for part in report.omitted or ():
        yield f"omitted: {_indent(part)}"
    if report.next is not UNSET:
        yield f"next: {report.next}"


def _indent(text: str) -> str:
    """So that no value can pass for a line of the report."""
    return text.replace("\n", "\n    ")


_PARTS = (
    _render_head,
    _render_exception,
    _render_source,
    _render_variables,
    _render_frames,
    _render_stack,
    _render_asked,
    _render_run,
    _render_notes,
)
